#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "spanloom/features/feature_program.hpp"
#include "spanloom/text/strings.hpp"

namespace spanloom {

// What the rows of a sentence stand for.
enum class Sites : std::uint8_t {
  tokens,    // row i is token i
  gaps,      // row i is the gap before token i, so offset 0 reads the token after the gap; one row more than tokens
  segments,  // the rows of the sentence's lattice
};

// Sentences as the feature machinery reads them.
struct TokenInput {
  std::vector<std::int64_t> sentence_ptr{0};  // [sentences + 1]: sentence s has tokens sentence_ptr[s] .. [s + 1]
  std::vector<StringList> columns;            // [columns], each with one string a token
  std::vector<std::int64_t> own_ptr;          // [tokens + 1]: own features of each token; empty if there are none
  StringList own_names;
  std::vector<float> own_values;             // as many as own_names, or empty if all are 1
  std::shared_ptr<const Lattices> lattices;  // of these sentences, for sites that are segments

  std::size_t sentences() const { return sentence_ptr.size() - 1; }
  std::size_t tokens() const { return static_cast<std::size_t>(sentence_ptr.back()); }
  std::size_t length(std::size_t s) const { return static_cast<std::size_t>(sentence_ptr[s + 1] - sentence_ptr[s]); }
  std::size_t rows(Sites sites) const {
    return sites == Sites::segments ? lattices->rows() : tokens() + (sites == Sites::gaps ? sentences() : 0);
  }

  // Throws std::invalid_argument unless the arrays fit each other, the sites and what the program reads.
  void check(const Program& program, Sites sites) const;
};

}  // namespace spanloom
