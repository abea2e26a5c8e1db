#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/base/hashing.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom::text {

// Documents as words of a table. Words are numbered through all documents.
struct GivenWords {
  std::span<const std::int64_t> ptr;     // [documents + 1]: document d has words ptr[d] .. ptr[d + 1]
  std::span<const std::uint64_t> keys;   // [words]
  std::span<const std::uint64_t> gaps;   // [words]: whether a blank follows
  std::span<const std::uint64_t> begin;  // [words]: 1 where a sentence begins, 0 where nothing is known of it
};

// Their texts, and those of the words that are not white space: the tokens.
struct WrittenWords {
  std::vector<std::string> texts;         // [documents]
  std::vector<std::int64_t> ptr{0};       // [documents + 1]: the tokens of each document
  std::vector<std::uint32_t> start, end;  // [tokens], in code points of the document
  std::vector<std::uint8_t> first;        // [tokens]: whether a sentence begins; none in documents without sentences
  std::vector<std::int64_t> place;        // [tokens]: the number of the word within its document
};

// Words that another program knows by 64-bit keys, such as the hashes of its strings.
class WordTable {
 public:
  std::size_t size() const { return words_.size(); }

  // The places of keys that are not known, each key once.
  std::vector<std::int64_t> unknown(std::span<const std::uint64_t> keys) const;

  // Adds a word that is not known yet. Throws std::invalid_argument if it is not UTF-8.
  void add(std::uint64_t key, std::string_view word, bool blank);

  // Throws std::invalid_argument, with the values, if arrays do not fit each other or a key is not known.
  WrittenWords write(const GivenWords& given) const;

 private:
  struct Word {
    std::uint32_t length;  // in code points
    bool blank;
  };
  std::uint32_t find(std::uint64_t key) const {
    return slots_.find(key, [](std::uint32_t) { return true; });
  }

  HashSlots slots_;
  StringList words_;
  std::vector<Word> about_;
};

}  // namespace spanloom::text
