#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spanloom/inference/skip_lattice.hpp"

namespace spanloom {

// What rescoring sees of a token, as bits.
namespace surface {
inline constexpr std::uint8_t kCoordinator = 1, kLink = 2, kComma = 4, kSlash = 8, kAnd = 16, kOr = 32, kPlural = 64;
}

// What rescoring sees of tokens: equal numbers stand for equal words, endings, outlines and parts of speech.
struct TokenSurface {
  std::span<const std::int32_t> word, ending, outline, pos;
  std::span<const std::uint8_t> flags;

  // Throws std::invalid_argument unless all have as many numbers.
  void check(std::size_t tokens) const;
  TokenSurface part(std::size_t first, std::size_t count) const;
};

// What is seen of a discontinuous candidate, in this order: of the other candidates its score, the best sibling, the
// best contiguous one, the weaker of its score and the sibling's, the best rival, the one that fills the gaps, the best
// of its parts alone, log(1 + siblings), log(1 + skipped tokens that no sibling has); of the text two parts or more,
// log(1 + tokens of the first gap), and the yes or no of decisions/rescoring.py.
inline constexpr std::size_t kNumbers = 29;
using Numbers = std::array<double, kNumbers>;

// What has no score counts as this.
inline constexpr double kLowest = -3.0;

// The numbers of every discontinuous candidate of a sentence, in order. `tagged`: whether parts of speech are known.
// Throws std::invalid_argument if a candidate has no tokens, or some that do not ascend within the sentence.
std::vector<Numbers> describe(std::span<const Subset> candidates, const TokenSurface& surface, bool tagged);

bool discontinuous(const Subset& subset);

// Log-odds of discontinuous candidates, and what is taken then.
class Rescoring {
 public:
  // mean, spread: [kNumbers]; weights: [kNumbers + kNumbers (kNumbers + 1) / 2], of the numbers and of the products of
  // every two, i <= j; thresholds: [types], the scores that stand for the log-odds `least`. Throws
  // std::invalid_argument if they do not fit.
  Rescoring(std::span<const double> mean, std::span<const double> spread, std::vector<double> weights, double bias,
            double least, std::vector<double> thresholds);

  double odds(const Numbers& numbers) const;

  // A candidate with its new score, and the log-odds that it came from: its own score, if it is contiguous.
  struct Scored {
    Subset subset;
    double odds;
  };

  // The candidates by their new scores, the best first, without those that a better one forbids, as far as they score
  // above above[type]; `above` is empty for all.
  std::vector<Scored> rescore(std::vector<Subset> candidates, const TokenSurface& surface, bool tagged,
                              Restrictions restrictions, std::span<const double> above) const;

 private:
  Numbers mean_, spread_;
  std::vector<double> weights_;
  double bias_, least_;
  std::vector<double> thresholds_;
};

}  // namespace spanloom
