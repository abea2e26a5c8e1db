#include "spanloom/text/json_lines.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>

#include "spanloom/base/parallel.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kBlockTokens = 8192;            // that one task writes, at least
constexpr std::size_t kPiece = std::size_t{1} << 20;  // a piece that is longer is followed by another

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

void append_pair(std::string& out, std::size_t start, std::size_t end) {
  out += '[';
  append_number(out, start);
  out += ',';
  append_number(out, end);
  out += ']';
}

// As Python writes a number from 0 to 1: the fewest digits that are read as the same number.
void append_probability(std::string& out, double p) {
  char digits[32];
  const auto form = p == 0 || p >= 1e-4 ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(digits, digits + sizeof digits, p, form);
  const std::string_view written(digits, static_cast<std::size_t>(end.ptr - digits));
  out += written;
  if (written.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// The pieces that a task writes.
class Pieces {
 public:
  explicit Pieces(std::size_t room) { all_.emplace_back().reserve(room); }

  // Where to write on. A long line is cut into pieces, so that nobody needs it as a whole.
  std::string& out() {
    if (all_.back().size() < kPiece) return all_.back();
    all_.back().shrink_to_fit();
    all_.emplace_back().reserve(kPiece + kPiece / 16);
    return all_.back();
  }
  std::vector<std::string>& all() { return all_; }

 private:
  std::vector<std::string> all_;
};

class Writer {
 public:
  Writer(const TokenizedTexts& texts, const FoundMentions& found, std::span<const std::string> labels, bool whole)
      : texts_(texts), found_(found), whole_(whole) {
    for (const std::string& label : labels) append_json(labels_.emplace_back("{\"label\":"), label);
  }

  void line(std::size_t document, const LineExtras& extras, Pieces& pieces) const {
    std::string& begin = pieces.out();
    begin += '{';
    if (!extras.id.empty()) {
      begin += "\"id\":";
      append_json(begin, extras.id);
      begin += ',';
    }
    if (whole_) text(document, pieces);
    pieces.out() += "\"mentions\":[";
    for (std::size_t m = found_.ptr[document]; m < found_.ptr[document + 1]; ++m) {
      std::string& out = pieces.out();
      if (m > found_.ptr[document]) out += ',';
      mention(document, found_.spans[m], out);
    }
    std::string& end = pieces.out();
    end += ']';
    if (!extras.meta.empty()) {
      end += ",\"meta\":";
      end += extras.meta;
    }
    end += "}\n";
  }

 private:
  void text(std::size_t document, Pieces& pieces) const {
    const std::size_t first = texts_.first_token(document);
    std::string& begin = pieces.out();
    begin += "\"text\":";
    append_json(begin, texts_.texts[document]);
    begin += ",\"tokens\":[";
    for (std::size_t t = first; t < texts_.first_token(document + 1); ++t) {
      std::string& out = pieces.out();
      if (t > first) out += ',';
      append_json(out, texts_.word(document, t));
    }
    pieces.out() += "],\"sentences\":[";
    for (std::size_t s = texts_.sentence_ptr[document]; s < texts_.sentence_ptr[document + 1]; ++s) {
      std::string& out = pieces.out();
      if (s > texts_.sentence_ptr[document]) out += ',';
      append_pair(out, texts_.token_ptr[s] - first, texts_.token_ptr[s + 1] - first);
    }
    pieces.out() += "],";
  }

  void mention(std::size_t document, const Found& span, std::string& out) const {
    const std::size_t first = texts_.first_token(document) + static_cast<std::size_t>(span.start);
    const std::size_t last = texts_.first_token(document) + static_cast<std::size_t>(span.end) - 1;
    out += labels_[static_cast<std::size_t>(span.type)];
    if (whole_) {
      out += ",\"parts\":[";
      append_pair(out, static_cast<std::size_t>(span.start), static_cast<std::size_t>(span.end));
      out += ']';
    }
    out += ",\"chars\":[";
    append_pair(out, texts_.chars[first].start, texts_.chars[last].end);
    out += "],\"text\":";
    const std::size_t start = texts_.bytes[first].start;
    append_json(out, texts_.texts[document].substr(start, texts_.bytes[last].end - start));
    if (found_.probable) {
      out += ",\"prob\":";
      append_probability(out, span.prob);
    }
    out += '}';
  }

  const TokenizedTexts& texts_;
  const FoundMentions& found_;
  bool whole_;
  std::vector<std::string> labels_;  // each the beginning of a mention
};

}  // namespace

void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view special = "\"\\\n\r\t\f\b", written = "\"\\nrtfb", hex = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;  // up to where the text was appended
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    const std::size_t known = special.find(text[i]);
    out += '\\';
    if (known < special.size()) {
      out += written[known];
    } else {
      out += "u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    }
  }
  out.append(text, plain);
  out += '"';
}

std::vector<std::string> json_lines(const TokenizedTexts& texts, const FoundMentions& found,
                                    std::span<const std::string> labels, std::span<const LineExtras> extras, bool whole,
                                    int threads) {
  const std::size_t documents = texts.documents();
  if (extras.size() != documents || found.ptr.size() != documents + 1)
    throw std::invalid_argument("[json_lines] ids of " + std::to_string(extras.size()) + " and mentions of " +
                                std::to_string(found.ptr.size() - 1) + " documents for " + std::to_string(documents));
  if (std::ranges::any_of(found.spans, [&](const Found& span) {
        return span.type < 0 || static_cast<std::size_t>(span.type) >= labels.size();
      }))
    throw std::invalid_argument("[json_lines] a mention has a label that is not among the " +
                                std::to_string(labels.size()));
  std::vector<std::size_t> ends;  // of blocks
  std::size_t tokens = kBlockTokens;
  for (std::size_t d = 0; d < documents; ++d) {
    if (tokens >= kBlockTokens) {
      ends.push_back(d);
      tokens = 0;
    }
    ends.back() = d + 1;
    tokens += texts.first_token(d + 1) - texts.first_token(d) + 1;
  }
  const Writer writer(texts, found, labels, whole);
  std::vector<std::vector<std::string>> written(ends.size());
  parallel_for(ends.size(), threads, [&](std::size_t b) {
    const std::size_t first = b == 0 ? 0 : ends[b - 1];
    std::size_t room = 0;  // about what is needed, so that little is copied as it grows
    for (std::size_t d = first; d < ends[b]; ++d) {
      room += (found.ptr[d + 1] - found.ptr[d]) * 96 + 64;
      if (whole) room += 2 * texts.texts[d].size() + 3 * (texts.first_token(d + 1) - texts.first_token(d));
    }
    Pieces pieces(std::min(room, kPiece + kPiece / 16));
    for (std::size_t d = first; d < ends[b]; ++d) writer.line(d, extras[d], pieces);
    written[b] = std::move(pieces.all());
  });
  std::vector<std::string> all;
  for (std::vector<std::string>& own : written) std::ranges::move(own, std::back_inserter(all));
  return all;
}

}  // namespace spanloom::text
