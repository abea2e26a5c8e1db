#include "feature_reader.hpp"

#include <cmath>
#include <stdexcept>

#include "item_reader.hpp"

namespace nb = nanobind;

namespace spanloom::bindings {
namespace {

void read_column(const std::string& name, nb::handle column, bool first, TokenInput& input) {
  const nb::object sentences = sequence(column, "column '" + name + "'");
  StringList& out = input.columns.emplace_back();
  if (!first) out.reserve(input.tokens(), 6 * input.tokens());
  Place place;
  for (std::size_t s = 0; s < length(sentences); ++s) {
    place = {s, 0};
    const nb::object tokens = sequence(item(sentences, s), "column '" + name + "' of sentence " + std::to_string(s));
    const std::size_t n = length(tokens);
    for (std::size_t t = 0; t < n; ++t) {
      place.token = t;
      const nb::handle text = item(tokens, t);
      if (!PyUnicode_Check(text.ptr()))
        place.fail("column '" + name + "' holds " + ascii(text) + " (" + type_of(text) + "); it must be a str");
      out.push_back(utf8(text, place));
    }
    if (first)
      input.sentence_ptr.push_back(static_cast<std::int64_t>(out.size()));
    else if (s >= input.sentences() || out.size() != static_cast<std::size_t>(input.sentence_ptr[s + 1]))
      throw std::invalid_argument("column '" + name + "' of sentence " + std::to_string(s) + " has " +
                                  std::to_string(n) + " values; other columns differ");
  }
}

// Takes the user's own features of tokens.
struct OwnFeatures {
  static constexpr const char* kOne = "own feature";
  static constexpr const char* kMany = "own features";
  static constexpr const char* kNoun = "feature";
  static constexpr const char* kRange = "a finite number that fits a 32-bit float";
  static constexpr bool kBytes = false;
  static constexpr bool kIterables = false;
  static bool fits(double value) { return std::isfinite(static_cast<float>(value)); }

  void add(std::string_view name, double number) {
    const auto value = static_cast<float>(number);
    input->own_names.push_back(name);
    if (value != 1.0f && input->own_values.empty()) input->own_values.assign(input->own_names.size() - 1, 1.0f);
    // The first value that is not 1 may be that of the very first feature.
    if (value != 1.0f || !input->own_values.empty()) input->own_values.push_back(value);
  }

  TokenInput* input;
};

void read_own(nb::handle own, TokenInput& input) {
  const nb::object sentences = sequence(own, "own features");
  if (length(sentences) != input.sentences())
    throw std::invalid_argument("own features are given for " + std::to_string(length(sentences)) + " of " +
                                std::to_string(input.sentences()) + " sentences");
  OwnFeatures sink{&input};
  ItemReader reader(sink);
  input.own_ptr.reserve(input.tokens() + 1);
  input.own_ptr.push_back(0);
  for (std::size_t s = 0; s < input.sentences(); ++s) {
    const nb::handle features = item(sentences, s);
    const std::size_t n = input.length(s);
    if (features.is_none()) {
      input.own_ptr.insert(input.own_ptr.end(), n, input.own_ptr.back());
      continue;
    }
    const nb::object tokens = sequence(features, "own features of sentence " + std::to_string(s));
    if (length(tokens) != n)
      throw std::invalid_argument("own features of sentence " + std::to_string(s) + " are given for " +
                                  std::to_string(length(tokens)) + " of " + std::to_string(n) + " tokens");
    for (std::size_t t = 0; t < n; ++t) {
      reader.read(item(tokens, t), {s, t});
      input.own_ptr.push_back(static_cast<std::int64_t>(input.own_names.size()));
    }
  }
}

}  // namespace

TokenInput read_input(const std::vector<std::string>& names, nb::handle columns, nb::handle own) {
  const nb::object lists = sequence(columns, "columns");
  if (length(lists) != names.size() || names.empty())
    throw std::invalid_argument(std::to_string(length(lists)) + " columns for " + std::to_string(names.size()) +
                                " names");
  TokenInput input;
  for (std::size_t c = 0; c < names.size(); ++c) read_column(names[c], item(lists, c), c == 0, input);
  if (!own.is_none()) read_own(own, input);
  return input;
}

Sites parse_sites(const std::string& name) {
  if (name == "tokens") return Sites::tokens;
  if (name == "gaps") return Sites::gaps;
  if (name == "segments") return Sites::segments;
  throw std::invalid_argument("unknown sites '" + name + "'");
}

}  // namespace spanloom::bindings
