#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/features/feature_input.hpp"
#include "spanloom/text/characters.hpp"
#include "spanloom/text/token_rules.hpp"

namespace spanloom::text {

// Documents with their sentences and tokens. Sentences and tokens are numbered through all documents.
struct TokenizedTexts {
  std::vector<std::string_view> texts;       // [documents], UTF-8; whoever made them keeps them
  std::vector<std::size_t> sentence_ptr{0};  // [documents + 1]: document d has sentences sentence_ptr[d] .. [d + 1]
  std::vector<std::size_t> token_ptr{0};     // [sentences + 1]: sentence s has tokens token_ptr[s] .. [s + 1]
  std::vector<Range> chars;                  // [tokens], in code points of the document
  std::vector<Range> bytes;                  // [tokens], in bytes of the document
  StringList words;                          // the distinct words, if somebody knows them; else empty
  std::vector<std::uint32_t> word_numbers;   // [tokens] of `words`, or empty

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
TokenizedTexts tokenize_texts(std::vector<std::string_view> texts, const TokenRules& rules, int threads);

// The texts that follow each other in UTF-8, text i from offsets[i] to offsets[i + 1]. Throws std::invalid_argument
// unless offsets ascend within the data.
std::vector<std::string_view> slices(std::span<const std::uint8_t> data, std::span<const std::int64_t> offsets);

// Tokens that texts come with.
struct GivenTokens {
  std::span<const std::int64_t> ptr;          // [documents + 1]: document d has tokens ptr[d] .. ptr[d + 1]
  std::span<const std::uint32_t> start, end;  // [tokens], in code points of the document
  std::span<const std::uint8_t> first;        // [tokens]: 1 where a sentence begins; found in documents that have no 1
};

// The same for texts whose tokens are known. Throws std::invalid_argument also where tokens overlap, are empty, or are
// not within their text.
TokenizedTexts with_tokens(std::vector<std::string_view> texts, const GivenTokens& given, int threads);

}  // namespace spanloom::text
