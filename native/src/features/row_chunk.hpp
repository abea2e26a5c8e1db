#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "spanloom/features/feature_rows.hpp"

namespace spanloom {

// Numbers that grow at the end, several at a time.
class FeatureRows::Ids {
 public:
  std::size_t size() const { return size_; }
  const std::uint32_t* data() const { return room_.data(); }
  void push_back(std::uint32_t value) {
    make_room(1);
    room_[size_++] = value;
  }
  // Copies in steps of kSlack, so that it reads up to kSlack - 1 numbers beyond the end.
  void append(const std::uint32_t* from, std::size_t n) {
    make_room(n + kSlack);
    std::uint32_t* to = room_.data() + size_;
    for (std::size_t i = 0; i < n; i += kSlack) std::memcpy(to + i, from + i, kSlack * sizeof(std::uint32_t));
    size_ += n;
  }
  std::vector<std::uint32_t> take() {
    room_.resize(size_);
    return std::move(room_);
  }

 private:
  void make_room(std::size_t n) {
    if (size_ + n > room_.size()) room_.resize(std::max(2 * room_.size(), size_ + n + 4096));
  }

  std::vector<std::uint32_t> room_;
  std::size_t size_ = 0;
};

// The columns of one sentence, so that reading beyond its ends needs no test.
struct FeatureRows::Padded {
  const TokenInput* input = nullptr;
  std::size_t first = 0;  // its first token
  std::int64_t tokens = 0;
  std::vector<const WordEntry*> at;  // by column: the entry of token 0
};

// Some sentences in a row, and what becomes of them.
struct FeatureRows::Chunk {
  std::size_t first = 0, last = 0;  // sentences first .. last
  Ids ids;
  std::vector<std::uint32_t> row_sizes;
  std::vector<float> values;  // where own features have values other than 1
  std::size_t row_begin = 0;

  void end_row() {
    row_sizes.push_back(static_cast<std::uint32_t>(ids.size() - row_begin));
    row_begin = ids.size();
  }

  // The lookups of some rows, which wait for memory together: `next` is the first that was not answered yet, and
  // `next_key` where its values begin.
  std::vector<Pending> pending;
  std::vector<std::uint32_t> keys;
  std::size_t next = 0, next_key = 0;
  std::vector<std::size_t> ends;  // of the lookups of each row

  void forget() {
    pending.clear();
    keys.clear();
    ends.clear();
    next = next_key = 0;
  }

  // Scratch.
  std::vector<std::uint32_t> key;
  std::vector<std::span<const std::uint32_t>> lists;
};

}  // namespace spanloom
