// Any bytes as a text, cut by any rules: tokens ascend, are disjoint, and hold every code point that is not blank;
// sentences hold every token once; the batch of one text gives the same; JSON lines have no raw control character.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/text/json_lines.hpp"
#include "spanloom/text/tokenized_texts.hpp"
#include "spanloom/text/tokenizer.hpp"
#include "spanloom/text/unicode.hpp"

using namespace spanloom;
using namespace spanloom::text;

namespace {

void demand(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::abort();
}

bool same(const Range& a, const Range& b) { return a.start == b.start && a.end == b.end; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  TokenRules rules;
  rules.base = static_cast<TokenRules::Base>(data[0] % 3);
  rules.switches = (data[1] | static_cast<std::uint32_t>(data[2]) << 8) & 0x3fff;
  rules.abbreviations = {U"mill", U"kr"};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  std::u32string text;
  bool valid = true;
  try {
    decode_utf8(bytes, text);
  } catch (const std::invalid_argument&) {
    valid = false;  // as code points, whatever they are: the tokenizer takes those of Python, also half surrogates
    text.clear();
    for (std::size_t i = 0; i + 3 < bytes.size(); i += 3) {
      text.push_back((static_cast<std::uint8_t>(bytes[i]) | static_cast<std::uint8_t>(bytes[i + 1]) << 8 |
                      static_cast<std::uint8_t>(bytes[i + 2]) << 16) %
                     0x110000);
    }
  }
  Tokenizer tokenizer(rules);
  std::vector<Range> tokens, sentences;
  tokenizer.tokenize(text, tokens);
  std::vector<Symbol> skeleton;
  make_skeleton(text, skeleton);
  std::uint32_t at = 0;
  for (const Range& token : tokens) {
    demand(at <= token.start && token.start < token.end && token.end <= text.size(), "a token is out of place");
    for (; at < token.start; ++at) demand(skeleton[at] == ' ', "a code point is in no token");
    at = token.end;
  }
  for (; at < text.size(); ++at) demand(skeleton[at] == ' ', "a code point at the end is in no token");
  tokenizer.split(text, tokens, sentences);
  at = 0;
  for (const Range& sentence : sentences) {
    demand(sentence.start == at && sentence.end > at, "sentences do not follow each other");
    at = sentence.end;
  }
  demand(at == tokens.size(), "a token is in no sentence");

  bool taken = true;
  TokenizedTexts batch;
  try {
    batch = tokenize_texts({bytes}, rules, 1);
  } catch (const std::invalid_argument&) {
    taken = false;
  }
  demand(taken == valid, "UTF-8 is valid for one and not for the other");
  if (!valid) return 0;
  demand(batch.tokens() == tokens.size() && batch.sentences() == sentences.size(), "the batch has other tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) demand(same(batch.chars[i], tokens[i]), "a token of the batch differs");
  FoundMentions found;
  found.ptr = {0, 0};
  const std::vector<LineExtras> extras{{bytes.substr(0, bytes.size() < 8 ? 0 : 0), ""}};
  for (const std::string& line : json_lines(batch, found, {}, extras, true, 1)) {
    for (const char c : line) demand(static_cast<std::uint8_t>(c) >= 0x20 || c == '\n', "JSON has a control character");
  }
  return 0;
}
