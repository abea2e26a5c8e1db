#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/base/hashing.hpp"
#include "spanloom/text/tokenized_texts.hpp"

namespace spanloom::text {

// A word of a document.
struct GivenWord {
  std::uint64_t key;
  std::uint64_t gap;    // whether a blank follows
  std::uint64_t begin;  // 1 where a sentence begins, 0 where nothing is known of it
};

// Documents as words of a table. Words are numbered through all documents.
struct GivenWords {
  std::span<const std::int64_t> ptr;  // [documents + 1]: document d has words ptr[d] .. ptr[d + 1]
  std::span<const GivenWord> words;
};

// Documents made of words, cut: the words that are not white space are the tokens.
struct CutWords {
  std::vector<std::string> texts;  // [documents]; `cut` has views of them
  TokenizedTexts cut;
  std::vector<std::int64_t> ptr{0};  // [documents + 1]: the tokens of each document
  std::vector<std::int64_t> place;   // [tokens]: the number of the word within its document
};

// Words that another program knows by 64-bit keys, such as the hashes of its strings.
class WordTable {
 public:
  std::size_t size() const { return words_.size(); }

  // The keys that are not known, each once.
  std::vector<std::uint64_t> unknown(std::span<const GivenWord> words) const;

  // Adds a word that is not known yet. Throws std::invalid_argument if it is not UTF-8.
  void add(std::uint64_t key, std::string_view word, bool blank);

  // Sentences are those that are given, and found in documents without. Throws std::invalid_argument, with the values,
  // if arrays do not fit each other, a key is not known, a word is empty, or a document has more than 4294967295 bytes.
  CutWords cut(const GivenWords& given) const;

 private:
  struct Word {
    std::size_t start;            // in bytes_
    std::uint32_t bytes, length;  // the latter in code points
    bool blank;
  };
  std::string_view text(const Word& word) const { return std::string_view(bytes_).substr(word.start, word.bytes); }
  // The numbers of words.
  std::vector<std::uint32_t> find(std::span<const GivenWord> words) const;
  std::uint32_t find(std::uint64_t key) const {
    return slots_.find(key, [](std::uint32_t) { return true; });
  }

  HashSlots slots_;
  std::string bytes_;  // of all words
  std::vector<Word> words_;
};

}  // namespace spanloom::text
