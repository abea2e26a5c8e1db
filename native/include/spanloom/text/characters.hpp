#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace spanloom::text {

// A half-open range: of code points in a text, or of tokens.
struct Range {
  std::uint32_t start = 0, end = 0;
};

// What stands for a code point in a skeleton: an ASCII letter or punctuation mark for itself, '0' for every digit,
// ' ' for every blank (white space, control characters, zero-width space), and for the rest one of these.
using Symbol = std::uint8_t;
inline constexpr Symbol kUpper = 0x80;   // Lu, Lt
inline constexpr Symbol kLetter = 0x81;  // other letters and numbers
inline constexpr Symbol kLone = 0x82;    // of scripts written without spaces: each is a token
inline constexpr Symbol kEmoji = 0x83;
inline constexpr Symbol kFlag = 0x84;    // regional indicators, two of which make a flag
inline constexpr Symbol kMark = 0x85;    // combining marks, format characters, skin tones
inline constexpr Symbol kJoiner = 0x86;  // zero-width joiner
inline constexpr Symbol kOther = 0x87;

// A code point as the tokenizer and the sentence splitter see it. The properties are those of Python's str methods on
// the one character.
struct Character {
  static constexpr std::uint8_t kAlpha = 1, kAlnum = 2, kDigit = 4, kSpace = 8, kIsUpper = 16, kIsLower = 32,
                                kUpperOrTitle = 64;
  Symbol symbol;
  std::uint8_t properties;

  bool is(std::uint8_t property) const { return (properties & property) != 0; }
};

// The record of a code point; those beyond U+10FFFF read as unassigned.
const Character& character(char32_t c);

// Replaces `out` by the symbols of the code points of `text`.
void make_skeleton(std::u32string_view text, std::vector<Symbol>& out);

}  // namespace spanloom::text
