#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/base/hashing.hpp"

namespace spanloom {

// Strings one after another in one buffer: a list that costs no allocation per string.
class StringList {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t start = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + start, ends_[i] - start};
  }
  void push_back(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  void reserve(std::size_t strings, std::size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }
  const std::string& bytes() const { return bytes_; }

  // Writes a string in pieces: append to open(), then close() makes it the last one of the list.
  std::string& open() { return bytes_; }
  void close() { ends_.push_back(bytes_.size()); }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // ends_[i]: where string i ends in bytes_
};

// Distinct strings, numbered 0, 1, 2 … in order of insertion.
class StringPool {
 public:
  std::size_t size() const { return strings_.size(); }
  std::string_view operator[](std::uint32_t id) const { return strings_[id]; }
  const StringList& strings() const { return strings_; }
  void reserve(std::size_t strings, std::size_t bytes) {
    strings_.reserve(strings, bytes);
    slots_.reserve(strings);
  }

  // The number of `text`, or kNone.
  std::uint32_t find(std::string_view text) const { return find(text, hash_bytes(text)); }

  // The number of `text`, which is added if it is new.
  std::uint32_t insert(std::string_view text) { return insert(text, hash_bytes(text)); }

  // The same with hash = hash_bytes(text), for callers that prefetch(hash) some texts ahead.
  std::uint32_t find(std::string_view text, std::uint64_t hash) const {
    return slots_.find(hash, [&](std::uint32_t id) { return strings_[id] == text; });
  }
  std::uint32_t insert(std::string_view text, std::uint64_t hash);
  void prefetch(std::uint64_t hash) const { slots_.prefetch(hash); }

 private:
  StringList strings_;
  HashSlots slots_;
};

}  // namespace spanloom
