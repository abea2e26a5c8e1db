#include "spanloom/text/characters.hpp"

namespace spanloom::text {
namespace {

#include "character_tables.inc"

}  // namespace

const Character& character(char32_t c) {
  if (c > 0x10FFFF) c = 0x10FFFF;
  return kRecords[kStage2[kStage1[c >> 7]][c & 0x7F]];
}

void make_skeleton(std::u32string_view text, std::vector<Symbol>& out) {
  out.resize(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) out[i] = character(text[i]).symbol;
}

}  // namespace spanloom::text
