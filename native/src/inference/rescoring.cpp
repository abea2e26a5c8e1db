#include "spanloom/inference/rescoring.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

constexpr double kSibling = -1.0;  // siblings count from this score on
constexpr double kFar = 4.0;       // numbers are cut here, after they were brought to mean 0 and variance 1

// A set of tokens as bits.
using Bits = std::vector<std::uint64_t>;

void add_range(Bits& bits, std::size_t start, std::size_t end) {
  for (std::size_t t = start; t < end; ++t) bits[t / 64] |= std::uint64_t{1} << (t % 64);
}

Bits bits_of(const Subset& subset, std::size_t tokens) {
  Bits bits((tokens + 63) / 64);
  for (const std::uint32_t t : subset.tokens) add_range(bits, t, t + 1);
  return bits;
}

template <class Rule>
bool any_word(const Bits& a, const Bits& b, const Rule& rule) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    if (rule(a[w], b[w]) != 0) return true;
  }
  return false;
}

bool overlap(const Bits& a, const Bits& b) {
  return any_word(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
}

// Whether a has all tokens of b.
bool contains(const Bits& a, const Bits& b) {
  return !any_word(a, b, [](std::uint64_t x, std::uint64_t y) { return y & ~x; });
}

bool forbids(Restrictions restrictions, const Subset& a, const Bits& in_a, const Subset& b, const Bits& in_b) {
  if (restrictions.no_overlap && overlap(in_a, in_b)) return true;
  return (restrictions.no_embedding || (restrictions.no_self_embedding && a.type == b.type)) &&
         (contains(in_a, in_b) || contains(in_b, in_a));
}

struct Part {
  std::size_t start, end;
};

std::vector<Part> parts_of(const Subset& subset) {
  std::vector<Part> parts;
  for (const std::uint32_t t : subset.tokens) {
    if (!parts.empty() && parts.back().end == t) {
      ++parts.back().end;
    } else {
      parts.push_back({t, t + 1});
    }
  }
  return parts;
}

// What the other candidates tell: the first nine numbers.
void look_around(std::size_t own, std::span<const Subset> candidates, std::span<const Bits> bits,
                 std::span<const Part> parts, std::size_t tokens, Numbers& out) {
  const Subset& mention = candidates[own];
  const Bits& in = bits[own];
  Bits everything((tokens + 63) / 64);
  add_range(everything, mention.tokens.front(), mention.tokens.back() + std::size_t{1});
  Bits left = everything;  // skipped tokens that no sibling has
  for (std::size_t w = 0; w < in.size(); ++w) left[w] &= ~in[w];
  const Bits gaps = left;
  double sibling = kLowest, contiguous = kLowest, rival = kLowest, whole = kLowest, alone = kLowest;
  std::size_t siblings = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Subset& other = candidates[i];
    const bool broken = discontinuous(other);
    if (!broken) {
      for (const Part& part : parts) {
        if (other.tokens.front() == part.start && other.tokens.back() + std::size_t{1} == part.end)
          alone = std::max(alone, other.score);
      }
    }
    if (other.type != mention.type || !overlap(bits[i], in) || bits[i] == in) continue;
    if (contains(in, bits[i]) || contains(bits[i], in)) {
      rival = std::max(rival, other.score);
      if (bits[i] == everything) whole = other.score;
    } else if (overlap(bits[i], gaps)) {
      sibling = std::max(sibling, other.score);
      if (!broken) contiguous = std::max(contiguous, other.score);
      if (other.score > kSibling) {
        ++siblings;
        for (std::size_t w = 0; w < left.size(); ++w) left[w] &= ~bits[i][w];
      }
    }
  }
  std::size_t uncovered = 0;
  for (const std::uint64_t word : left) uncovered += static_cast<std::size_t>(std::popcount(word));
  const double numbers[] = {mention.score,
                            sibling,
                            contiguous,
                            std::min(mention.score, sibling),
                            rival,
                            whole,
                            alone,
                            std::log1p(static_cast<double>(siblings)),
                            std::log1p(static_cast<double>(uncovered))};
  std::copy(std::begin(numbers), std::end(numbers), out.begin());
}

// What the words tell: the other numbers, from `at` on.
void look_at_text(std::span<const Part> parts, const TokenSurface& surface, bool tagged, double* at) {
  const auto [first, gap] = parts[0];
  const std::size_t after = parts[1].start;
  const auto has = [&](std::size_t t, std::uint8_t flag) { return (surface.flags[t] & flag) != 0; };
  const auto any = [&](std::uint8_t flag) {
    for (std::size_t t = gap; t < after; ++t) {
      if (has(t, flag)) return true;
    }
    return false;
  };
  const auto tell = [&](double number) { *at++ = number; };
  tell(parts.size() == 2);
  tell(std::log1p(static_cast<double>(after - gap)));
  tell(any(surface::kCoordinator));
  tell(any(surface::kComma));
  tell(any(surface::kSlash));
  tell(has(gap, surface::kLink));
  tell(has(after - 1, surface::kLink));
  std::size_t link = after;  // the last one of the gap
  while (link > gap && !has(link - 1, surface::kLink)) --link;
  if (link == gap) {
    for (int k = 0; k < 12; ++k) tell(0);
  } else {
    --link;
    const std::size_t a = gap - 1, b = after - 1, length = after - link - 1;
    const auto same = [&](std::span<const std::int32_t> of) { return length > 0 && of[a] == of[b]; };
    tell(has(link, surface::kAnd));
    tell(has(link, surface::kOr));
    tell(has(link, surface::kComma));
    tell(has(link, surface::kSlash));
    tell(length == gap - first);
    tell(length > gap - first);
    tell(same(surface.word));
    tell(same(surface.ending));
    tell(same(surface.outline));
    tell(tagged && same(surface.pos));
    tell(tagged && length > 0 &&
         std::ranges::equal(surface.pos.subspan(first, gap - first), surface.pos.subspan(link + 1, length)));
    tell(tagged && surface.pos[after] == surface.pos[gap]);
  }
  tell(has(parts.back().end - 1, surface::kPlural));
}

}  // namespace

bool discontinuous(const Subset& subset) {
  return subset.tokens.back() - subset.tokens.front() + std::size_t{1} != subset.tokens.size();
}

void TokenSurface::check(std::size_t tokens) const {
  for (const std::size_t size : {word.size(), ending.size(), outline.size(), pos.size(), flags.size()}) {
    if (size != tokens) {
      throw std::invalid_argument("[Rescoring] the surface of " + std::to_string(size) + " tokens instead of " +
                                  std::to_string(tokens));
    }
  }
}

TokenSurface TokenSurface::part(std::size_t first, std::size_t count) const {
  return {word.subspan(first, count), ending.subspan(first, count), outline.subspan(first, count),
          pos.subspan(first, count), flags.subspan(first, count)};
}

std::vector<Numbers> describe(std::span<const Subset> candidates, const TokenSurface& surface, bool tagged) {
  const std::size_t tokens = surface.flags.size();
  surface.check(tokens);
  std::vector<Bits> bits;
  for (const Subset& one : candidates) {
    const auto out_of_order = std::ranges::adjacent_find(one.tokens, std::greater_equal<>());
    if (one.tokens.empty() || one.tokens.back() >= tokens || out_of_order != one.tokens.end()) {
      throw std::invalid_argument("[Rescoring] candidate " + std::to_string(bits.size()) +
                                  " has no tokens, or some that do not ascend within " + std::to_string(tokens));
    }
    bits.push_back(bits_of(one, tokens));
  }
  std::vector<Numbers> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!discontinuous(candidates[i])) continue;
    const std::vector<Part> parts = parts_of(candidates[i]);
    Numbers& numbers = found.emplace_back();
    look_around(i, candidates, bits, parts, tokens, numbers);
    look_at_text(parts, surface, tagged, &numbers[9]);
  }
  return found;
}

Rescoring::Rescoring(std::span<const double> mean, std::span<const double> spread, std::vector<double> weights,
                     double bias, double least, std::vector<double> thresholds)
    : weights_(std::move(weights)), bias_(bias), least_(least), thresholds_(std::move(thresholds)) {
  if (mean.size() != kNumbers || spread.size() != kNumbers || weights_.size() != kNumbers * (kNumbers + 3) / 2) {
    throw std::invalid_argument("[Rescoring] " + std::to_string(mean.size()) + " means, " +
                                std::to_string(spread.size()) + " spreads and " + std::to_string(weights_.size()) +
                                " weights for " + std::to_string(kNumbers) + " numbers and their products");
  }
  std::ranges::copy(mean, mean_.begin());
  std::ranges::copy(spread, spread_.begin());
}

double Rescoring::odds(const Numbers& numbers) const {
  Numbers z;
  double sum = bias_;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    z[i] = std::clamp((numbers[i] - mean_[i]) / spread_[i], -kFar, kFar);
    sum += weights_[i] * z[i];
  }
  const double* weight = &weights_[kNumbers];
  for (std::size_t i = 0; i < kNumbers; ++i) {
    double with = 0;
    for (std::size_t j = i; j < kNumbers; ++j) with += *weight++ * z[j];
    sum += z[i] * with;
  }
  return sum;
}

std::vector<Rescoring::Scored> Rescoring::rescore(std::vector<Subset> candidates, const TokenSurface& surface,
                                                  bool tagged, Restrictions restrictions,
                                                  std::span<const double> above) const {
  if (!above.empty() && above.size() != thresholds_.size()) {
    throw std::invalid_argument("[Rescoring] " + std::to_string(above.size()) + " scores to be above for " +
                                std::to_string(thresholds_.size()) + " types");
  }
  const std::vector<Numbers> numbers = describe(candidates, surface, tagged);
  std::vector<Scored> scored;
  std::size_t at = 0;
  for (Subset& one : candidates) {
    if (one.type >= thresholds_.size()) {
      throw std::invalid_argument("[Rescoring] a candidate has type " + std::to_string(one.type) + " of " +
                                  std::to_string(thresholds_.size()));
    }
    double log_odds = one.score;
    if (discontinuous(one)) {
      log_odds = odds(numbers[at++]);
      one.score = log_odds - least_ + thresholds_[one.type];
    }
    scored.push_back({std::move(one), log_odds});
  }
  std::ranges::stable_sort(scored, [](const Scored& a, const Scored& b) { return a.subset.score > b.subset.score; });
  std::vector<Scored> kept;
  std::vector<Bits> bits;
  for (Scored& one : scored) {
    Bits own = bits_of(one.subset, surface.flags.size());
    bool stands = true;
    for (std::size_t k = 0; restrictions.any() && stands && k < kept.size(); ++k) {
      stands = !forbids(restrictions, kept[k].subset, bits[k], one.subset, own);
    }
    if (!stands) continue;
    kept.push_back(std::move(one));
    bits.push_back(std::move(own));
  }
  if (!above.empty())
    std::erase_if(kept, [&](const Scored& one) { return !(one.subset.score > above[one.subset.type]); });
  return kept;
}

}  // namespace spanloom
