#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "spanloom/features/feature_input.hpp"
#include "spanloom/text/characters.hpp"

namespace spanloom::text {

// Documents with their sentences and tokens. Sentences and tokens are numbered through all documents.
struct TokenizedTexts {
  std::vector<std::string_view> texts;       // [documents], UTF-8; whoever made them keeps them
  std::vector<std::size_t> sentence_ptr{0};  // [documents + 1]: document d has sentences sentence_ptr[d] .. [d + 1]
  std::vector<std::size_t> token_ptr{0};     // [sentences + 1]: sentence s has tokens token_ptr[s] .. [s + 1]
  std::vector<Range> chars;                  // [tokens], in code points of the document
  std::vector<Range> bytes;                  // [tokens], in bytes of the document

  std::size_t documents() const { return texts.size(); }
  std::size_t sentences() const { return token_ptr.size() - 1; }
  std::size_t tokens() const { return chars.size(); }
  std::size_t first_token(std::size_t document) const { return token_ptr[sentence_ptr[document]]; }
  std::string_view word(std::size_t document, std::size_t token) const {
    return texts[document].substr(bytes[token].start, bytes[token].end - bytes[token].start);
  }

  // Which document a sentence belongs to.
  std::size_t document_of(std::size_t sentence) const;

  // The words of sentences first .. last as input for features that read nothing but words.
  TokenInput input(std::size_t first, std::size_t last) const;
};

// Cuts texts into sentences and tokens. The result does not depend on the number of threads. Throws
// std::invalid_argument, with the number of the text, if one is not UTF-8 or has more than 4294967295 bytes.
TokenizedTexts tokenize_texts(std::vector<std::string_view> texts, int threads);

}  // namespace spanloom::text
