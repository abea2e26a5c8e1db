#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "spanloom/base/hashing.hpp"
#include "spanloom/features/feature_count.hpp"

namespace spanloom {

using Id = std::uint32_t;

// Numbers the keys of one template in order of first occurrence, and counts them. Keys are taken in batches, so that
// several lookups wait for memory at the same time.
class JointCounter {
 public:
  JointCounter(const Template& t, Candidates& out)
      : counted_(t.counted()), arity_(t.atoms.size()), verify_(counted_ || arity_ > 2), out_(out) {}

  void add(std::span<const Id> key, Id row, Id times = 1) {
    const std::uint64_t tag = FeatureTable::tag(key);
    slots_.prefetch(tag);
    pending_.push_back({tag, row, times, static_cast<Id>(key.size())});
    keys_.insert(keys_.end(), key.begin(), key.end());
    if (pending_.size() == kBatch) flush();
  }

  void flush() {
    const Id* values = keys_.data();
    for (const Pending& p : pending_) {
      count({values, p.length}, p);
      values += p.length;
    }
    pending_.clear();
    keys_.clear();
  }

 private:
  static constexpr std::size_t kBatch = 32;
  struct Pending {
    std::uint64_t tag;
    Id row, times, length;
  };

  void count(std::span<const Id> key, const Pending& p) {
    Id found = slots_.find(p.tag, [&](Id id) {
      if (!verify_) return true;
      const std::size_t length = counted_ ? out_.keys[starts_[id] - 1] : arity_;
      return std::ranges::equal(key, std::span(out_.keys.data() + starts_[id], length));
    });
    if (found == kNone) {
      found = static_cast<Id>(out_.counts.size());
      slots_.insert(p.tag, found);
      if (counted_) out_.keys.push_back(static_cast<Id>(key.size()));
      if (verify_) starts_.push_back(out_.keys.size());
      out_.keys.insert(out_.keys.end(), key.begin(), key.end());
      out_.counts.push_back(0);
      out_.first_row.push_back(p.row);
    }
    if (p.times >= kNone - out_.counts[found]) throw std::length_error("a feature occurs more than 4294967294 times");
    out_.counts[found] += p.times;
  }

  const bool counted_;
  const std::size_t arity_;
  const bool verify_;  // whether tags are not the keys themselves
  Candidates& out_;
  HashSlots slots_;
  std::vector<std::size_t> starts_;  // of each candidate's values in out_.keys, where keys are verified
  std::vector<Pending> pending_;
  std::vector<Id> keys_;
};

}  // namespace spanloom
