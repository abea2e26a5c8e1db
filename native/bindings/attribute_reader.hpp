#pragma once
#include <nanobind/nanobind.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "item_reader.hpp"
#include "spanloom/features/attribute_sequences.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom::bindings {

// One sequence with names of its own.
struct ItemSequence {
  StringPool names;
  AttributeSequences data;
};

// Takes the attributes of items: new names get a number, or are left out. The names of an item are looked up together,
// so that they wait for memory at the same time.
class Attributes {
 public:
  static constexpr const char* kOne = "attribute";
  static constexpr const char* kMany = "attributes";
  static constexpr const char* kNoun = "attribute";
  static constexpr const char* kRange = "a finite number";
  static constexpr bool kBytes = true;
  static constexpr bool kIterables = true;
  static bool fits(double value) { return std::isfinite(value); }

  Attributes(StringPool& names, bool grow, AttributeSequences& out) : names_(names), out_(out), grow_(grow) {}

  void add(std::string_view name, double value) {
    const std::uint64_t hash = hash_bytes(name);
    names_.prefetch(hash);
    texts_.push_back(name);
    waiting_.push_back({hash, value});
  }

  // Ends the item that these attributes are of.
  void close_item() {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const auto [hash, value] = waiting_[i];
      const std::uint32_t id = grow_ ? names_.insert(texts_[i], hash) : names_.find(texts_[i], hash);
      if (id != kNone) out_.add(id, value);
    }
    texts_.clear();
    waiting_.clear();
    out_.close_item();
  }

 private:
  struct Waiting {
    std::uint64_t hash;
    double value;
  };

  StringPool& names_;
  AttributeSequences& out_;
  bool grow_;
  StringList texts_;
  std::vector<Waiting> waiting_;
};

// Adds a sequence, given as an iterable of items or as an ItemSequence. Throws std::invalid_argument that names the
// sequence by `number`, the item and the attribute.
void read_sequence(nanobind::handle given, StringPool& names, bool grow, AttributeSequences& out, std::size_t number);

nanobind::list strings(const StringPool& pool);

}  // namespace spanloom::bindings
