#include "spanloom/text/token_trie.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace spanloom {
namespace {

// Past this many distinct words a matcher starts to remember anew, so that a long stream does not fill the memory.
constexpr std::size_t kRemembered = 1 << 20;

}  // namespace

TokenTrie::TokenTrie(std::vector<Op> normalise)
    : normalise_(std::move(normalise)), transformer_({}), parents_{0}, tokens_{kNone}, kinds_{kNone} {}

TokenTrie::TokenTrie(std::vector<Op> normalise, const StringList& words, std::vector<std::uint32_t> parents,
                     std::vector<std::uint32_t> tokens, std::vector<std::uint32_t> kinds)
    : normalise_(std::move(normalise)),
      transformer_({}),
      parents_(std::move(parents)),
      tokens_(std::move(tokens)),
      kinds_(std::move(kinds)) {
  if (parents_.empty() || tokens_.size() != parents_.size() || kinds_.size() != parents_.size()) {
    throw std::invalid_argument("[TokenTrie] " + std::to_string(parents_.size()) + " parents, " +
                                std::to_string(tokens_.size()) + " tokens and " + std::to_string(kinds_.size()) +
                                " kinds are not the nodes of a trie");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words_.insert(words[i]) != i) throw std::invalid_argument("[TokenTrie] word " + std::to_string(i) + " repeats");
  }
  children_.reserve(parents_.size());
  for (std::size_t node = 1; node < parents_.size(); ++node) {
    if (parents_[node] >= node || tokens_[node] >= words_.size() || child(parents_[node], tokens_[node]) != kNone) {
      throw std::invalid_argument("[TokenTrie] node " + std::to_string(node) + " with parent " +
                                  std::to_string(parents_[node]) + " and token " + std::to_string(tokens_[node]) +
                                  " does not fit");
    }
    children_.insert(key(parents_[node], tokens_[node]), static_cast<std::uint32_t>(node));
    entries_ += kinds_[node] != kNone;
  }
}

void TokenTrie::add(std::span<const std::string_view> tokens, std::uint32_t kind) {
  if (tokens.empty()) throw std::invalid_argument("[TokenTrie] an entry needs a token");
  if (kind == kNone) throw std::invalid_argument("[TokenTrie] kind " + std::to_string(kind) + " is too large");
  std::uint32_t node = 0;
  for (const std::string_view token : tokens) {
    const std::uint32_t word = words_.insert(transformer_.apply(normalise_, token)[0]);
    std::uint32_t next = child(node, word);
    if (next == kNone) {
      if (parents_.size() >= kNone) throw std::length_error("[TokenTrie] more than 2^32 nodes");
      next = static_cast<std::uint32_t>(parents_.size());
      parents_.push_back(node);
      tokens_.push_back(word);
      kinds_.push_back(kNone);
      children_.insert(key(node, word), next);
    }
    node = next;
  }
  entries_ += kinds_[node] == kNone;
  kinds_[node] = kind;
}

std::uint32_t TokenTrie::Matcher::word(std::string_view token) {
  if (seen_.size() >= kRemembered) {
    seen_ = StringPool();
    word_of_.clear();
  }
  const std::uint32_t id = seen_.insert(token);
  if (id == word_of_.size()) word_of_.push_back(trie_.words_.find(transformer_.apply(trie_.normalise_, token)[0]));
  return word_of_[id];
}

void TokenTrie::Matcher::match(std::span<const std::string_view> tokens, std::vector<Match>& out) {
  words_.clear();
  for (const std::string_view token : tokens) words_.push_back(word(token));
  for (std::size_t start = 0; start < words_.size();) {
    Match best;
    std::uint32_t node = 0;
    for (std::size_t at = start; at < words_.size() && words_[at] != kNone; ++at) {
      node = trie_.child(node, words_[at]);
      if (node == kNone) break;
      if (trie_.kinds_[node] != kNone) {
        best = {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(at + 1), trie_.kinds_[node]};
      }
    }
    if (best.end > start) out.push_back(best);
    start = best.end > start ? best.end : start + 1;
  }
}

}  // namespace spanloom
