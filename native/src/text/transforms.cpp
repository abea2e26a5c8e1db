#include "spanloom/text/transforms.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "spanloom/text/unicode.hpp"

namespace spanloom {
namespace {

constexpr std::pair<std::string_view, OpKind> kOps[] = {
    {"lower", OpKind::lower},   {"shape", OpKind::shape},       {"collapsed", OpKind::collapsed},
    {"digits", OpKind::digits}, {"squeezed", OpKind::squeezed}, {"length", OpKind::length},
    {"prefix", OpKind::prefix}, {"suffix", OpKind::suffix},     {"ngrams", OpKind::ngrams},
    {"flags", OpKind::flags},   {"lookup", OpKind::lookup},     {"cluster", OpKind::cluster},
    {"values", OpKind::values}};

void append_all(std::string& out, std::u32string_view code_points) {
  for (const char32_t c : code_points) append_utf8(out, c);
}

char32_t shape_of(char32_t c, CharClass kind) {
  switch (kind) {
    case CharClass::upper:
      return U'X';
    case CharClass::lower:
      return U'x';
    case CharClass::letter:
      return U'c';
    case CharClass::digit:
      return U'9';
    default:
      return c;
  }
}

void append_shape(std::string& out, std::u32string_view text, bool collapse) {
  constexpr char32_t kNothing = 0x110000;
  char32_t before = kNothing;
  for (const char32_t c : text) {
    const CharClass kind = char_info(c).kind;
    if (kind == CharClass::mark) continue;
    const char32_t s = shape_of(c, kind);
    if (!collapse || s != before) append_utf8(out, s);
    before = s;
  }
}

void append_digits(std::string& out, std::u32string_view text, bool squeeze) {
  bool before = false;
  for (const char32_t c : text) {
    const bool digit = char_info(c).kind == CharClass::digit;
    if (!(digit && squeeze && before)) append_utf8(out, digit ? U'0' : c);
    before = digit;
  }
}

}  // namespace

void Resource::add(std::string_view key, std::span<const std::string> values_of_key) {
  if (keys.find(key) != kNone) throw std::invalid_argument("a resource has the key '" + std::string(key) + "' twice");
  keys.insert(key);
  for (const std::string& value : values_of_key) values.push_back(value);
  if (values.size() >= kNone) throw std::length_error("a resource has more than 4294967295 values");
  ptr.push_back(static_cast<std::uint32_t>(values.size()));
}

OpKind op_kind(std::string_view name) {
  for (const auto& [known, kind] : kOps) {
    if (known == name) return kind;
  }
  throw std::invalid_argument("unknown operation '" + std::string(name) + "'");
}

bool passes_boundary(OpKind kind) {
  return kind != OpKind::prefix && kind != OpKind::suffix && kind != OpKind::ngrams && kind != OpKind::flags;
}

bool View::passes_boundary() const {
  return std::ranges::all_of(ops, [](const Op& op) { return spanloom::passes_boundary(op.kind); });
}

const StringList& Transformer::apply(std::span<const Op> ops, std::string_view text) {
  now_.clear();
  now_.push_back(text);
  for (const Op& op : ops) {
    next_.clear();
    for (std::size_t i = 0; i < now_.size(); ++i) step(op, now_[i], next_);
    std::swap(now_, next_);
  }
  if (now_.size() > 1) drop_repeated();
  return now_;
}

void Transformer::step(const Op& op, std::string_view text, StringList& out) {
  if (op.kind == OpKind::lookup || op.kind == OpKind::cluster) {
    const Resource& resource = resources_[op.resource];
    const std::uint32_t key = resource.keys.find(text);
    if (key == kNone) return;
    for (std::uint32_t v = resource.ptr[key]; v < resource.ptr[key + 1]; ++v) {
      if (op.kind == OpKind::lookup) {
        out.push_back(resource.values[v]);
        continue;
      }
      decode_utf8(resource.values[v], code_points_);
      for (const std::uint32_t k : op.lengths) {
        append_all(out.open(), std::u32string_view(code_points_).substr(0, k));
        out.close();
      }
    }
    return;
  }
  if (op.kind == OpKind::values) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('|', at), text.size());
      if (end > at) out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return;
  }
  decode_utf8(text, code_points_);
  const std::u32string_view whole = code_points_;
  const std::size_t n = whole.size();
  const std::size_t longest = std::min<std::size_t>(op.high, n);
  switch (op.kind) {
    case OpKind::lower:
      lowered_.clear();
      for (const char32_t c : whole) append_lower(lowered_, c);
      append_all(out.open(), lowered_);
      out.close();
      break;
    case OpKind::shape:
    case OpKind::collapsed:
      append_shape(out.open(), whole, op.kind == OpKind::collapsed);
      out.close();
      break;
    case OpKind::digits:
    case OpKind::squeezed:
      append_digits(out.open(), whole, op.kind == OpKind::squeezed);
      out.close();
      break;
    case OpKind::length:
      out.push_back(std::to_string(n));
      break;
    case OpKind::prefix:
    case OpKind::suffix:
      for (std::size_t k = op.low; k <= longest; ++k) {
        append_all(out.open(), whole.substr(op.kind == OpKind::prefix ? 0 : n - k, k));
        out.close();
      }
      break;
    case OpKind::ngrams:
      for (std::size_t k = op.low; k <= longest; ++k) {
        for (std::size_t i = 0; i + k <= n; ++i) {
          append_all(out.open(), whole.substr(i, k));
          out.close();
        }
      }
      break;
    case OpKind::flags: {
      const std::uint64_t bits = flags_of(whole);
      for (std::size_t i = 0; i < flag_names().size(); ++i) {
        if (!(op.mask >> i & 1)) continue;
        const bool holds = bits >> i & 1;
        if (!holds && !op.both) continue;
        out.open().append(flag_names()[i]).append(!op.both ? "" : holds ? "=true" : "=false");
        out.close();
      }
      break;
    }
    case OpKind::lookup:
    case OpKind::cluster:
    case OpKind::values:
      break;
  }
}

// Values of one view are a set: n-grams that occur twice in a word, or clusters that end early, count once.
void Transformer::drop_repeated() {
  const std::size_t n = now_.size();
  next_.clear();
  if (n <= 16) {
    for (std::size_t i = 0; i < n; ++i) {
      bool seen = false;
      for (std::size_t k = 0; k < next_.size() && !seen; ++k) seen = next_[k] == now_[i];
      if (!seen) next_.push_back(now_[i]);
    }
  } else {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < n; ++i) {
      if (seen.insert(now_[i]).second) next_.push_back(now_[i]);
    }
  }
  std::swap(now_, next_);
}

}  // namespace spanloom
