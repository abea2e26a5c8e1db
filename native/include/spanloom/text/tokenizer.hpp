#pragma once
#include <string_view>
#include <vector>

#include "spanloom/text/characters.hpp"

namespace spanloom::text {

// Cuts texts into tokens; has scratch memory, so use one per thread.
class Tokenizer {
 public:
  // Replaces `out` by the tokens of the text in code points: ascending, disjoint, never empty, and every code point
  // that is not blank belongs to one. Time is linear. Throws std::length_error beyond 4294967295 code points.
  void tokenize(std::u32string_view text, std::vector<Range>& out);

 private:
  std::vector<Symbol> skeleton_;
  std::vector<Range> addresses_;
};

}  // namespace spanloom::text
