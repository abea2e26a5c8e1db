#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/inference/lattice.hpp"
#include "spanloom/text/transforms.hpp"

namespace spanloom {

// A view read at a distance from the site: offset 0 is the token at the site, -1 the one before it. Where the site is a
// whole segment, the distance counts from its first or its last token.
struct Atom {
  std::uint32_t view = 0;
  std::int32_t offset = 0;
  bool from_last = false;
};

enum class TemplateKind : std::uint8_t {
  conjunction,  // one feature for every combination of a value of each atom; one atom or more
  bag,          // one feature: the sorted multiset of the values of all atoms, which share one view
  sequence,     // one feature: the first value of the only atom's view for every token of a segment, in order
  own,          // the user's own features of the token at the only atom's offset
  bias,         // one feature that is always there
};

struct Template {
  TemplateKind kind = TemplateKind::conjunction;
  std::vector<Atom> atoms;
  std::uint32_t min_count = 1;      // features seen less often are dropped
  std::vector<std::string> labels;  // how to name it: one label an atom for a conjunction, else one
  Part part = Part::inside;         // which row of a segment it belongs to; tokens and gaps have one row only
  std::uint32_t index = 0;          // left, right: k >= 1

  bool single() const { return kind == TemplateKind::own || (kind == TemplateKind::conjunction && atoms.size() == 1); }
  // Whether keys differ in length, so that each begins with its number of values.
  bool counted() const { return kind == TemplateKind::bag || kind == TemplateKind::sequence; }
};

// What a view reads before and after the sentence.
inline constexpr std::string_view kSentenceBegin = "<s>", kSentenceEnd = "</s>";

// Calls body() with `key` holding every combination of one value of each list, the last list running fastest.
template <class Lists, class Body>
void each_combination(const Lists& lists, std::vector<std::uint32_t>& key, const Body& body) {
  if (key.size() == lists.size()) {
    body();
    return;
  }
  for (const std::uint32_t value : lists[key.size()]) {
    key.push_back(value);
    each_combination(lists, key, body);
    key.pop_back();
  }
}

// Everything that turns tokens into features, as data.
struct Program {
  static constexpr std::int32_t kMaxOffset = 100;

  std::uint32_t columns = 0;
  std::vector<View> views;
  std::vector<Template> templates;
  std::vector<Resource> resources;

  // Values are numbered per view; the user's own features have a numbering of their own after those of the views.
  std::size_t pools() const { return views.size() + 1; }
  std::uint32_t pool_of(const Template& t) const {
    return t.kind == TemplateKind::own ? static_cast<std::uint32_t>(views.size()) : t.atoms.front().view;
  }
  bool uses_own() const;

  // The rows that segments need for these templates.
  SegmentLayout layout() const;

  // Throws std::invalid_argument, with the values, unless every index, length and offset is in range.
  void check() const;
};

}  // namespace spanloom
