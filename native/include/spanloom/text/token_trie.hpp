#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spanloom/text/strings.hpp"
#include "spanloom/text/transforms.hpp"

namespace spanloom {

// A lexicon: entries of one or more tokens, found in text from left to right, the longest first.
//
// Nodes are numbered so that a parent comes before its children; node 0 is the root. An edge is found by hashing
// (node, token): about 60 bytes a node in all, and one lookup for each token that goes on with an entry.
class TokenTrie {
 public:
  struct Match {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t kind = 0;
  };

  // normalise: what is done to tokens of entries and texts alike before they are compared.
  explicit TokenTrie(std::vector<Op> normalise);

  // Makes a trie again from its nodes. Throws std::invalid_argument, with the values, if they are no trie.
  TokenTrie(std::vector<Op> normalise, const StringList& words, std::vector<std::uint32_t> parents,
            std::vector<std::uint32_t> tokens, std::vector<std::uint32_t> kinds);

  // Adds an entry; one that is there already gets the new kind. Throws std::invalid_argument if it has no token.
  void add(std::span<const std::string_view> tokens, std::uint32_t kind);

  std::size_t entries() const { return entries_; }
  const StringList& words() const { return words_.strings(); }
  const std::vector<std::uint32_t>& parents() const { return parents_; }
  const std::vector<std::uint32_t>& tokens() const { return tokens_; }
  const std::vector<std::uint32_t>& kinds() const { return kinds_; }

  // Finds entries in texts; has buffers and remembers the words that it has seen: one per thread.
  class Matcher {
   public:
    explicit Matcher(const TokenTrie& trie) : trie_(trie), transformer_({}) {}
    void match(std::span<const std::string_view> tokens, std::vector<Match>& out);

   private:
    std::uint32_t word(std::string_view token);

    const TokenTrie& trie_;
    Transformer transformer_;
    StringPool seen_;
    std::vector<std::uint32_t> word_of_;  // [seen]: its number in the trie, or kNone
    std::vector<std::uint32_t> words_;
  };

 private:
  static std::uint64_t key(std::uint32_t node, std::uint32_t token) { return (std::uint64_t{node} << 32) | token; }
  std::uint32_t child(std::uint32_t node, std::uint32_t token) const {
    return children_.find(key(node, token), [](std::uint32_t) { return true; });
  }

  std::vector<Op> normalise_;
  Transformer transformer_;
  StringPool words_;
  HashSlots children_;                  // (node, token) to node
  std::vector<std::uint32_t> parents_;  // [nodes]
  std::vector<std::uint32_t> tokens_;   // [nodes]: the token between the parent and the node
  std::vector<std::uint32_t> kinds_;    // [nodes]: the kind of the entry that ends here, or kNone
  std::size_t entries_ = 0;
};

}  // namespace spanloom
