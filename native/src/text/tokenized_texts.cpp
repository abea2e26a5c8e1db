#include "spanloom/text/tokenized_texts.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"
#include "spanloom/text/sentences.hpp"
#include "spanloom/text/tokenizer.hpp"
#include "spanloom/text/unicode.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;  // of text that one task cuts, at least

std::uint32_t utf8_length(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

// The documents first .. last, cut.
struct Block {
  std::size_t first = 0, last = 0;
  std::vector<std::size_t> sentences;  // how many, by document
  std::vector<std::size_t> lengths;    // tokens, by sentence
  std::vector<Range> chars, bytes;
};

class Cutter {
 public:
  void cut(std::string_view text, Block& block) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(std::to_string(text.size()) + " bytes; at most 4294967295 are possible");
    // Room at once, so that a long text is not copied as its vectors grow; pages that stay unused cost nothing.
    code_points_.reserve(text.size());
    tokens_.reserve(text.size() / 3);
    decode_utf8(text, code_points_);
    tokenizer_.tokenize(code_points_, tokens_);
    split_sentences(code_points_, tokens_, sentences_);
    block.sentences.push_back(sentences_.size());
    for (const Range& sentence : sentences_) block.lengths.push_back(sentence.end - sentence.start);
    block.chars.insert(block.chars.end(), tokens_.begin(), tokens_.end());
    if (text.size() > code_points_.size()) to_bytes();
    block.bytes.insert(block.bytes.end(), tokens_.begin(), tokens_.end());
  }

 private:
  // Turns the ranges of tokens in code points into those in bytes.
  void to_bytes() {
    std::uint32_t at = 0, byte = 0;
    const auto byte_of = [&](std::uint32_t place) {
      for (; at < place; ++at) byte += utf8_length(code_points_[at]);
      return byte;
    };
    for (Range& token : tokens_) {
      token.start = byte_of(token.start);
      token.end = byte_of(token.end);
    }
  }

  std::u32string code_points_;
  Tokenizer tokenizer_;
  std::vector<Range> tokens_, sentences_;
};

// Moves what the first block has, copies what the others have.
void append(std::vector<Range>& all, std::vector<Range>& more) {
  if (all.empty())
    all = std::move(more);
  else
    all.insert(all.end(), more.begin(), more.end());
  more = {};
}

}  // namespace

std::size_t TokenizedTexts::document_of(std::size_t sentence) const {
  const auto after = std::upper_bound(sentence_ptr.begin(), sentence_ptr.end(), sentence);
  return static_cast<std::size_t>(after - sentence_ptr.begin()) - 1;
}

TokenInput TokenizedTexts::input(std::size_t first, std::size_t last) const {
  TokenInput input;
  StringList& words = input.columns.emplace_back();
  words.reserve(token_ptr[last] - token_ptr[first], 6 * (token_ptr[last] - token_ptr[first]));
  input.sentence_ptr.reserve(last - first + 1);
  for (std::size_t s = first, document = first < last ? document_of(first) : 0; s < last; ++s) {
    while (sentence_ptr[document + 1] <= s) ++document;
    for (std::size_t t = token_ptr[s]; t < token_ptr[s + 1]; ++t) words.push_back(word(document, t));
    input.sentence_ptr.push_back(static_cast<std::int64_t>(words.size()));
  }
  return input;
}

TokenizedTexts tokenize_texts(std::vector<std::string_view> texts, int threads) {
  TokenizedTexts out;
  out.texts = std::move(texts);
  std::vector<Block> blocks;
  std::size_t size = kBlockBytes;
  for (std::size_t d = 0; d < out.documents(); ++d) {
    if (size >= kBlockBytes) {
      blocks.emplace_back().first = d;
      size = 0;
    }
    blocks.back().last = d + 1;
    size += out.texts[d].size();
  }
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    Cutter cutter;
    for (std::size_t d = blocks[b].first; d < blocks[b].last; ++d) {
      try {
        cutter.cut(out.texts[d], blocks[b]);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("text " + std::to_string(d) + ": " + error.what());
      }
    }
  });
  for (Block& block : blocks) {
    for (const std::size_t count : block.sentences) out.sentence_ptr.push_back(out.sentence_ptr.back() + count);
    for (const std::size_t length : block.lengths) out.token_ptr.push_back(out.token_ptr.back() + length);
    append(out.chars, block.chars);
    append(out.bytes, block.bytes);
  }
  return out;
}

}  // namespace spanloom::text
