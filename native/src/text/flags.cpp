#include <algorithm>
#include <array>
#include <string>

#include "spanloom/text/transforms.hpp"
#include "spanloom/text/unicode.hpp"

namespace spanloom {
namespace {

using namespace std::string_view_literals;

// The first thirteen are those of Muis and Lu (2017); with the others, the orthographic features that are usual for
// biomedical text (Cho et al. 2013, Leaman and Gonzalez 2008).
enum Flag : unsigned {
  all_caps,
  all_digits,
  alphanumeric,
  all_lower,
  has_digit,
  has_dot,
  has_hyphen,
  initial_capital,
  lonely_initial,
  punctuation,
  roman_numeral,
  single_char,
  url,
  title_case,
  inner_capital,
  letters_and_digits,
  real_number,
  starts_with_digit,
  ends_with_digit,
  starts_with_hyphen,
  ends_with_hyphen,
  has_slash,
  has_bracket,
  has_comma,
  has_apostrophe,
  has_symbol,
  greek_letter,
  greek_name,
  dna_sequence,
  flag_count,
};

constexpr std::array<std::string_view, flag_count> kNames = {"all_caps"sv,
                                                             "all_digits"sv,
                                                             "alphanumeric"sv,
                                                             "all_lower"sv,
                                                             "has_digit"sv,
                                                             "has_dot"sv,
                                                             "has_hyphen"sv,
                                                             "initial_capital"sv,
                                                             "lonely_initial"sv,
                                                             "punctuation"sv,
                                                             "roman_numeral"sv,
                                                             "single_char"sv,
                                                             "url"sv,
                                                             "title_case"sv,
                                                             "inner_capital"sv,
                                                             "letters_and_digits"sv,
                                                             "real_number"sv,
                                                             "starts_with_digit"sv,
                                                             "ends_with_digit"sv,
                                                             "starts_with_hyphen"sv,
                                                             "ends_with_hyphen"sv,
                                                             "has_slash"sv,
                                                             "has_bracket"sv,
                                                             "has_comma"sv,
                                                             "has_apostrophe"sv,
                                                             "has_symbol"sv,
                                                             "greek_letter"sv,
                                                             "greek_name"sv,
                                                             "dna_sequence"sv};

constexpr std::array kGreekNames = {U"alpha"sv, U"beta"sv,    U"gamma"sv,   U"delta"sv, U"epsilon"sv, U"zeta"sv,
                                    U"eta"sv,   U"theta"sv,   U"iota"sv,    U"kappa"sv, U"lambda"sv,  U"mu"sv,
                                    U"nu"sv,    U"xi"sv,      U"omicron"sv, U"pi"sv,    U"rho"sv,     U"sigma"sv,
                                    U"tau"sv,   U"upsilon"sv, U"phi"sv,     U"chi"sv,   U"psi"sv,     U"omega"sv};

// M* (CM | CD | D? C{0,3}) (XC | XL | L? X{0,3}) (IX | IV | V? I{0,3}), not empty.
bool is_roman(std::u32string_view text) {
  std::size_t at = 0;
  const auto here = [&](char32_t c) { return at < text.size() && text[at] == c; };
  while (here(U'M')) ++at;
  for (const auto& [one, five, ten] : {std::array{U'C', U'D', U'M'}, {U'X', U'L', U'C'}, {U'I', U'V', U'X'}}) {
    const char32_t after = here(one) && at + 1 < text.size() ? text[at + 1] : U'\0';
    if (after == ten || after == five) {
      at += 2;
      continue;
    }
    if (here(five)) ++at;
    for (int k = 0; k < 3 && here(one); ++k) ++at;
  }
  return at == text.size() && !text.empty();
}

// Digits with at least one '.' or ',' between digits, with or without a sign before.
bool is_real(std::u32string_view text) {
  if (!text.empty() && (text[0] == U'+' || text[0] == U'-' || text[0] == 0x2212)) text.remove_prefix(1);
  bool point = false, digit_before = false;
  for (const char32_t c : text) {
    const bool digit = char_info(c).kind == CharClass::digit;
    if (!digit && !((c == U'.' || c == U',') && digit_before)) return false;
    point |= !digit;
    digit_before = digit;
  }
  return point && digit_before;
}

// Some maximal run of letters is the name of a Greek letter, in any case.
bool names_greek_letter(std::u32string_view text) {
  std::u32string run;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_letter(char_info(text[i]).kind)) {
      append_lower(run, text[i]);
      continue;
    }
    if (std::ranges::find(kGreekNames, run) != kGreekNames.end()) return true;
    run.clear();
  }
  return false;
}

bool is_url(std::u32string_view text) {
  std::u32string low;
  for (const char32_t c : text) append_lower(low, c);
  return (low.find(U"://") != std::u32string::npos && low.find(U"://") > 0) ||
         (low.starts_with(U"www.") && low.size() > 4);
}

}  // namespace

std::span<const std::string_view> flag_names() { return kNames; }

std::uint64_t flags_of(std::u32string_view text) {
  const std::size_t n = text.size();
  std::size_t upper = 0, lower = 0, letters = 0, digits = 0, marks = 0, dna = 0, greek = 0;
  bool dash = false, symbol = false, slash = false, bracket = false, comma = false, apostrophe = false, dot = false;
  bool all_punctuation = n > 0, capital_inside = false;
  for (std::size_t i = 0; i < n; ++i) {
    const char32_t c = text[i];
    const CharInfo& info = char_info(c);
    upper += info.kind == CharClass::upper;
    lower += info.kind == CharClass::lower;
    letters += is_letter(info.kind);
    digits += info.kind == CharClass::digit;
    marks += info.kind == CharClass::mark;
    greek += info.greek;
    dash |= info.kind == CharClass::dash;
    symbol |= info.kind == CharClass::symbol;
    all_punctuation &=
        info.kind == CharClass::punctuation || info.kind == CharClass::dash || info.kind == CharClass::symbol;
    capital_inside |= info.kind == CharClass::upper && i > 0;
    dna += c == U'A' || c == U'C' || c == U'G' || c == U'T' || c == U'U';
    slash |= c == U'/';
    bracket |= c == U'(' || c == U')' || c == U'[' || c == U']' || c == U'{' || c == U'}';
    comma |= c == U',';
    apostrophe |= c == U'\'' || c == 0x2019;
    dot |= c == U'.';
  }
  const auto first = n > 0 ? char_info(text.front()).kind : CharClass::other;
  const auto last = n > 0 ? char_info(text.back()).kind : CharClass::other;
  std::uint64_t bits = 0;
  const auto set = [&bits](Flag flag, bool holds) { bits |= static_cast<std::uint64_t>(holds) << flag; };
  set(all_caps, upper > 0 && upper + marks == n);
  set(all_digits, digits > 0 && digits == n);
  set(alphanumeric, letters + digits > 0 && letters + digits + marks == n);
  set(all_lower, lower > 0 && lower + marks == n);
  set(has_digit, digits > 0);
  set(has_dot, dot);
  set(has_hyphen, dash);
  set(initial_capital, first == CharClass::upper);
  set(lonely_initial, n == 2 && first == CharClass::upper && text[1] == U'.');
  set(punctuation, all_punctuation);
  set(roman_numeral, is_roman(text));
  set(single_char, n == 1);
  set(url, is_url(text));
  set(title_case, first == CharClass::upper && upper == 1 && lower > 0 && upper + lower + marks == n);
  set(inner_capital, capital_inside && lower > 0);
  set(letters_and_digits, letters > 0 && digits > 0);
  set(real_number, is_real(text));
  set(starts_with_digit, first == CharClass::digit);
  set(ends_with_digit, last == CharClass::digit);
  set(starts_with_hyphen, first == CharClass::dash);
  set(ends_with_hyphen, last == CharClass::dash);
  set(has_slash, slash);
  set(has_bracket, bracket);
  set(has_comma, comma);
  set(has_apostrophe, apostrophe);
  set(has_symbol, symbol);
  set(greek_letter, greek > 0);
  set(greek_name, names_greek_letter(text));
  set(dna_sequence, n >= 4 && dna == n);
  return bits;
}

}  // namespace spanloom
