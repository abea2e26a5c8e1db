#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "spanloom/text/characters.hpp"

namespace spanloom::text {

// How texts are cut into tokens: by the rules of tokenizer.cpp; at white space alone; or at white space and around
// every punctuation mark. Switches change single decisions of these, so that a text is cut as some corpus was.
struct TokenRules {
  enum class Base : std::uint8_t { rules, space, punctuation };
  enum Switch : std::uint32_t {
    kHyphens = 1U << 0,        // T-cell
    kHanging = 1U << 1,        // pre- and postwar
    kSlashes = 1U << 2,        // ng/ml
    kApostrophes = 1U << 3,    // don't, John's
    kElision = 1U << 4,        // l'|homme
    kPeriods = 1U << 5,        // e.Kr.
    kOrdinals = 1U << 6,       // the period of "3. maj"
    kInitials = 1U << 7,       // J. Smith
    kCommas = 1U << 8,         // 9,5
    kColons = 1U << 9,         // 12:30
    kAmpersands = 1U << 10,    // AT&T
    kPercent = 1U << 11,       // 5%
    kPlus = 1U << 12,          // CD4+
    kContractions = 1U << 13,  // can|not, gon|na
  };

  Base base = Base::rules;
  std::uint32_t switches = 0;
  std::unordered_set<std::u32string> abbreviations;  // words, without it, that keep a period

  bool has(Switch one) const { return (switches & one) != 0; }

  // Throws std::invalid_argument, with what is known, for a name that is none.
  static TokenRules named(std::string_view base, const std::vector<std::string>& switches,
                          const std::vector<std::string>& abbreviations);
  static std::span<const std::string_view> switch_names();  // in the order of their bits
};

// Cuts and joins tokens in place, as the switches and abbreviations say. `skeleton` is that of the text.
void apply_switches(std::u32string_view text, std::span<const Symbol> skeleton, const TokenRules& rules,
                    std::vector<Range>& tokens);

}  // namespace spanloom::text
