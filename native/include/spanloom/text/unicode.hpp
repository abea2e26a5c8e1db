#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace spanloom {

// What a code point is, as far as features care: Unicode's general categories, coarser.
enum class CharClass : std::uint8_t {
  other,        // C*: control, format, private, unassigned
  upper,        // Lu, Lt
  lower,        // Ll
  letter,       // Lo, Lm: letters without case
  digit,        // Nd
  number,       // Nl, No
  mark,         // M*: combining
  punctuation,  // P* but dashes
  dash,         // Pd
  symbol,       // S*
  space,        // Z*
};

struct CharInfo {
  CharClass kind;
  bool greek;               // a letter whose Unicode name starts with GREEK
  std::int32_t lower_step;  // lower case minus the code point
};

// The record of a code point; those beyond U+10FFFF read as `other`.
const CharInfo& char_info(char32_t c);

// The version of Unicode that the tables were made from.
std::string_view unicode_version();

inline bool is_letter(CharClass k) { return k == CharClass::upper || k == CharClass::lower || k == CharClass::letter; }

// Appends the lower case of one code point. Without context, so capital sigma always becomes the non-final one.
void append_lower(std::u32string& out, char32_t c);

// Replaces `out` by the code points of `text`. Throws std::invalid_argument, with the byte position, unless it is valid
// UTF-8 (no overlong form, no surrogate, nothing beyond U+10FFFF).
void decode_utf8(std::string_view text, std::u32string& out);

void append_utf8(std::string& out, char32_t c);

}  // namespace spanloom
