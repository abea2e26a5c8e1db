#include "spanloom/feature_input.hpp"

#include <algorithm>
#include <stdexcept>

namespace spanloom {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument("feature input: " + message);
}

}  // namespace

void TokenInput::check(const Program& program) const {
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
  require(own_values.empty() || own_values.size() == own_names.size(), "own values do not fit the own features");
}

}  // namespace spanloom
