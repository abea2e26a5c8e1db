#include "spanloom/text/tokenized_texts.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/base/parallel.hpp"
#include "spanloom/base/runs.hpp"
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
  explicit Cutter(const TokenRules& rules) : tokenizer_(rules) {}

  void cut(std::string_view text, Block& block) {
    decode(text);
    tokens_.reserve(text.size() / 3);
    tokenizer_.tokenize(code_points_, tokens_);
    tokenizer_.split(code_points_, tokens_, sentences_);
    keep(text, block);
  }

  // The same for a text whose tokens, and perhaps sentences, are known.
  void take(std::string_view text, const GivenTokens& given, std::size_t document, Block& block) {
    decode(text);
    tokens_.clear();
    std::uint32_t at = 0;
    const auto first = static_cast<std::size_t>(given.ptr[document]);
    const auto last = static_cast<std::size_t>(given.ptr[document + 1]);
    for (std::size_t t = first; t < last; ++t) {
      const Range token{given.start[t], given.end[t]};
      if (token.start < at || token.end <= token.start || token.end > code_points_.size())
        throw std::invalid_argument("token " + std::to_string(t - first) + " has the characters " +
                                    std::to_string(token.start) + " to " + std::to_string(token.end) +
                                    "; it must be after character " + std::to_string(at) + " of " +
                                    std::to_string(code_points_.size()) + ", and not empty");
      at = token.end;
      tokens_.push_back(token);
    }
    const auto begins = given.first.empty() ? given.first : given.first.subspan(first, last - first);
    if (std::find(begins.begin(), begins.end(), 1) == begins.end()) {
      split_sentences(code_points_, tokens_, sentences_);
    } else {
      sentences_.clear();
      for (std::uint32_t t = 0; t < tokens_.size(); ++t) {
        if (t == 0 || begins[t] != 0) sentences_.push_back({t, t});
        sentences_.back().end = t + 1;
      }
    }
    keep(text, block);
  }

 private:
  void decode(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(std::to_string(text.size()) + " bytes; at most 4294967295 are possible");
    // Room at once, so that a long text is not copied as its vectors grow; pages that stay unused cost nothing.
    code_points_.reserve(text.size());
    decode_utf8(text, code_points_);
  }

  void keep(std::string_view text, Block& block) {
    block.sentences.push_back(sentences_.size());
    for (const Range& sentence : sentences_) block.lengths.push_back(sentence.end - sentence.start);
    block.chars.insert(block.chars.end(), tokens_.begin(), tokens_.end());
    if (text.size() > code_points_.size()) to_bytes();
    block.bytes.insert(block.bytes.end(), tokens_.begin(), tokens_.end());
  }

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
  std::vector<Range>().swap(more);  // `= {}` would keep the memory
}

// Cuts blocks of texts side by side by `cut(cutter, document, text, block)`, and joins them.
template <class Cut>
TokenizedTexts cut_blocks(std::vector<std::string_view> texts, const TokenRules& rules, int threads, const Cut& cut) {
  TokenizedTexts out;
  out.texts = std::move(texts);
  std::vector<Block> blocks;
  const auto size = [&](std::size_t d) { return out.texts[d].size(); };
  for (const auto& [first, last] : runs(out.documents(), kBlockBytes, size)) {
    Block& block = blocks.emplace_back();
    block.first = first;
    block.last = last;
  }
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    Cutter cutter(rules);
    for (std::size_t d = blocks[b].first; d < blocks[b].last; ++d) {
      try {
        cut(cutter, d, out.texts[d], blocks[b]);
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

TokenizedTexts tokenize_texts(std::vector<std::string_view> texts, const TokenRules& rules, int threads) {
  return cut_blocks(std::move(texts), rules, threads,
                    [](Cutter& cutter, std::size_t, std::string_view text, Block& block) { cutter.cut(text, block); });
}

std::vector<std::string_view> slices(std::span<const std::uint8_t> data, std::span<const std::int64_t> offsets) {
  std::vector<std::string_view> views;
  views.reserve(offsets.size());
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i - 1] < 0 || offsets[i] < offsets[i - 1] || offsets[i] > static_cast<std::int64_t>(data.size()))
      throw std::invalid_argument("text " + std::to_string(i - 1) + " goes from byte " +
                                  std::to_string(offsets[i - 1]) + " to " + std::to_string(offsets[i]) + " of " +
                                  std::to_string(data.size()));
    views.emplace_back(reinterpret_cast<const char*>(data.data()) + offsets[i - 1],
                       static_cast<std::size_t>(offsets[i] - offsets[i - 1]));
  }
  return views;
}

TokenizedTexts with_tokens(std::vector<std::string_view> texts, const GivenTokens& given, int threads) {
  const auto tokens = static_cast<std::int64_t>(given.start.size());
  const bool fits = given.ptr.size() == texts.size() + 1 && given.end.size() == given.start.size() &&
                    (given.first.empty() || given.first.size() == given.start.size()) && given.ptr.front() == 0 &&
                    given.ptr.back() == tokens && std::is_sorted(given.ptr.begin(), given.ptr.end());
  if (!fits)
    throw std::invalid_argument("[with_tokens] " + std::to_string(texts.size()) + " texts, pointers to " +
                                std::to_string(given.ptr.size()) + " places, " + std::to_string(tokens) + " starts, " +
                                std::to_string(given.end.size()) + " ends and " + std::to_string(given.first.size()) +
                                " first tokens do not fit together");
  return cut_blocks(std::move(texts), TokenRules(), threads,
                    [&](Cutter& cutter, std::size_t document, std::string_view text, Block& block) {
                      cutter.take(text, given, document, block);
                    });
}

}  // namespace spanloom::text
