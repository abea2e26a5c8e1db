#include "spanloom/features/feature_input.hpp"

#include <algorithm>
#include <stdexcept>

namespace spanloom {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument("feature input: " + message);
}

}  // namespace

void TokenInput::check(const Program& program, Sites sites) const {
  require(!sentence_ptr.empty() && sentence_ptr.front() == 0 && std::ranges::is_sorted(sentence_ptr),
          "sentence pointers must start at 0 and ascend");
  require(rows(Sites::gaps) < kNone, "more than 4294967294 tokens and sentences");
  require(columns.size() == program.columns,
          std::to_string(columns.size()) + " columns instead of " + std::to_string(program.columns));
  for (const StringList& column : columns)
    require(column.size() == tokens(),
            "a column has " + std::to_string(column.size()) + " values for " + std::to_string(tokens()) + " tokens");
  require(own_ptr.empty() ? own_names.size() == 0
                          : own_ptr.size() == tokens() + 1 && own_ptr.front() == 0 && std::ranges::is_sorted(own_ptr) &&
                                own_ptr.back() == static_cast<std::int64_t>(own_names.size()),
          "own features do not fit the tokens");
  if (sites == Sites::segments) {
    require(lattices != nullptr, "segments need lattices");
    require(lattices->layout() == program.layout(), "the lattices have other rows than the templates");
    require(lattices->size() == sentences(),
            std::to_string(lattices->size()) + " lattices for " + std::to_string(sentences()) + " sentences");
    for (std::size_t s = 0; s < sentences(); ++s)
      require(static_cast<std::size_t>((*lattices)[s].tokens) == length(s),
              "the lattice of sentence " + std::to_string(s) + " is for another number of tokens");
    require(lattices->rows() < kNone, "more than 4294967294 rows");
  } else {
    require(lattices == nullptr, "only segments have lattices");
  }
  require(own_values.empty() || own_values.size() == own_names.size(), "own values do not fit the own features");
}

}  // namespace spanloom
