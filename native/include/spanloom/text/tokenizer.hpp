#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/text/characters.hpp"
#include "spanloom/text/token_rules.hpp"

namespace spanloom::text {

// Cuts texts into tokens; has scratch memory, so use one per thread.
class Tokenizer {
 public:
  // The rules must outlive the tokenizer.
  explicit Tokenizer(const TokenRules& rules) : rules_(rules) {}

  // Replaces `out` by the tokens of the text in code points: ascending, disjoint, never empty, and every code point
  // that is not blank belongs to one. Time is linear. Throws std::length_error beyond 4294967295 code points.
  void tokenize(std::u32string_view text, std::vector<Range>& out);

  // Replaces `out` by the sentences of the same text, given its tokens. Where texts are not cut by our rules, sentences
  // are still found with tokens that are, and end where tokens do.
  void split(std::u32string_view text, std::span<const Range> tokens, std::vector<Range>& out);

 private:
  void by_rules(std::u32string_view text, std::vector<Range>& out);

  const TokenRules& rules_;
  std::vector<Symbol> skeleton_;
  std::vector<Range> addresses_, ours_, found_;
};

}  // namespace spanloom::text
