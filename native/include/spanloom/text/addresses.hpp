#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/text/characters.hpp"

namespace spanloom::text {

// Replaces `out` by the URLs and e-mail addresses of a text, ascending and disjoint. `skeleton` is that of the text.
// Each code point is looked at a bounded number of times.
void find_addresses(std::u32string_view text, std::span<const Symbol> skeleton, std::vector<Range>& out);

}  // namespace spanloom::text
