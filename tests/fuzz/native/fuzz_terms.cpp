// Any bytes as marked terms and tagged words: nothing, or terms within tokens within sentences within the text.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "spanloom/text/tagged_terms.hpp"

using namespace spanloom;

namespace {

void demand(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view both(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = both.find('\0');
  const std::string_view markup = both.substr(0, cut);
  const std::string_view tagged = cut == std::string_view::npos ? std::string_view() : both.substr(cut + 1);
  without_entities(markup);
  for (const bool inner : {false, true}) {
    const auto made = join_tagged_terms(markup, tagged, [](std::string_view sem) { return sem.empty() ? -1 : 0; }, inner);
    if (!made) continue;
    std::size_t text = 0, token = 0, term = 0;
    for (const auto& sentence : made->sentences) {
      demand(sentence.text_begin == text && sentence.text_end >= text, "sentences of the text");
      demand(sentence.token_begin == token && sentence.token_end >= token, "sentences of tokens");
      demand(sentence.term_begin == term && sentence.term_end >= term, "sentences of terms");
      text = sentence.text_end, token = sentence.token_end, term = sentence.term_end;
      std::uint32_t at = 0;
      for (std::size_t i = sentence.token_begin; i < sentence.token_end; ++i) {
        const auto& one = made->tokens[i];
        demand(at <= one.start && one.start < one.end && one.end <= text - sentence.text_begin, "a token");
        demand(one.word < made->tags.size(), "a tag");
        at = one.end;
      }
      for (std::size_t i = sentence.term_begin; i < sentence.term_end; ++i) {
        const auto& one = made->terms[i];
        demand(one.first < one.last && one.last <= sentence.token_end - sentence.token_begin, "a term");
      }
    }
    demand(text == made->text.size() && token == made->tokens.size() && term == made->terms.size(), "an end");
  }
  return 0;
}
