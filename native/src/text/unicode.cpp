#include "spanloom/text/unicode.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace spanloom {
namespace {

#include "unicode_tables.inc"

[[noreturn]] void bad_byte(std::string_view text, std::size_t at) {
  throw std::invalid_argument("a string of " + std::to_string(text.size()) + " bytes is not valid UTF-8 at byte " +
                              std::to_string(at));
}

}  // namespace

const CharInfo& char_info(char32_t c) {
  if (c > 0x10FFFF) return kRecords[kStage2[kStage1[0x10FFFF >> 7]][0x7F]];
  return kRecords[kStage2[kStage1[c >> 7]][c & 0x7F]];
}

std::string_view unicode_version() { return kUnicodeVersion; }

void append_lower(std::u32string& out, char32_t c) {
  out.push_back(static_cast<char32_t>(static_cast<std::int32_t>(c) + char_info(c).lower_step));
  if (c == 0x130) out.push_back(0x307);  // I with dot above: the only lower case of two code points
}

void decode_utf8(std::string_view text, std::u32string& out) {
  // Every code point has one byte that continues none. Exactly so much room is touched: a text may be long.
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  out.resize(static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins)));
  char32_t* to = out.data();
  const std::size_t n = text.size();
  for (std::size_t i = 0; i < n;) {
    for (std::uint64_t eight = 0; i + sizeof(eight) <= n; i += sizeof(eight), to += sizeof(eight)) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      if ((eight & 0x8080808080808080u) != 0) break;
      for (std::size_t k = 0; k < sizeof(eight); ++k) to[k] = static_cast<unsigned char>(text[i + k]);
    }
    if (i == n) break;
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      *to++ = lead;
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > n) bad_byte(text, i);
    char32_t c = lead & (0x7Fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xC0) != 0x80) bad_byte(text, i + k);
      c = (c << 6) | (byte & 0x3Fu);
    }
    const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    if (c < least || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) bad_byte(text, i);
    *to++ = c;
    i += length;
  }
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace spanloom
