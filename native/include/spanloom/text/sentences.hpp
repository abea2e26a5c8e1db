#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/text/characters.hpp"

namespace spanloom::text {

// Replaces `out` by the sentences of a text as half-open ranges of its tokens, which together hold every token once.
// Tokens are ranges of code points, none empty. Time is linear. Throws std::out_of_range if a token is not within the
// text.
void split_sentences(std::u32string_view text, std::span<const Range> tokens, std::vector<Range>& out);

}  // namespace spanloom::text
