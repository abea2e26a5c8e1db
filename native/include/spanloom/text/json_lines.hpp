#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/text/text_tagger.hpp"

namespace spanloom::text {

// What a line has beside a document's text and mentions.
struct LineExtras {
  std::string_view id;    // left out if it is empty
  std::string_view meta;  // JSON; left out if it is empty
};

// Appends a JSON string with its quotes: only what JSON demands is escaped, the rest stays UTF-8.
void append_json(std::string& out, std::string_view text);

// One line of JSON for each document, in order, as pieces to be put one after the other. Mentions have their label,
// their characters and their text; with `whole`, also their tokens (parts), and the document has its text, tokens and
// sentences. The result does not depend on the number of threads. Throws std::invalid_argument if sizes do not fit.
std::vector<std::string> json_lines(const TokenizedTexts& texts, const FoundMentions& found,
                                    std::span<const std::string> labels, std::span<const LineExtras> extras, bool whole,
                                    int threads);

}  // namespace spanloom::text
