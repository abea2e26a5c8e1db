#pragma once
#include <nanobind/nanobind.h>

#include <cmath>
#include <string_view>

#include "item_reader.hpp"
#include "spanloom/features/attribute_sequences.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom::bindings {

// One sequence with names of its own.
struct ItemSequence {
  StringPool names;
  AttributeSequences data;
};

// Takes the attributes of items: new names get a number, or are left out.
struct Attributes {
  static constexpr const char* kOne = "attribute";
  static constexpr const char* kMany = "attributes";
  static constexpr const char* kNoun = "attribute";
  static constexpr const char* kRange = "a finite number";
  static constexpr bool kBytes = true;
  static constexpr bool kIterables = true;
  static bool fits(double value) { return std::isfinite(value); }

  void add(std::string_view name, double value) {
    const std::uint32_t id = grow ? names->insert(name) : names->find(name);
    if (id != kNone) out->add(id, value);
  }

  StringPool* names;
  AttributeSequences* out;
  bool grow;
};

// Adds a sequence, given as an iterable of items or as an ItemSequence. Throws std::invalid_argument that names the
// sequence by `number`, the item and the attribute.
void read_sequence(nanobind::handle given, StringPool& names, bool grow, AttributeSequences& out, std::size_t number);

nanobind::list strings(const StringPool& pool);

}  // namespace spanloom::bindings
