#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spanloom/text/strings.hpp"

namespace spanloom {

// A named table from a string to zero or more strings: clusters, gazetteer classes.
struct Resource {
  StringPool keys;
  std::vector<std::uint32_t> ptr{0};  // [keys + 1]: key k has the values ptr[k] .. ptr[k + 1]
  StringList values;

  // Adds a key with its values. Throws std::invalid_argument if the key is there already.
  void add(std::string_view key, std::span<const std::string> values_of_key);
};

// A step of a view: a function from one string to zero or more strings, on Unicode code points.
enum class OpKind : std::uint8_t {
  lower,      // lower case, code point by code point
  shape,      // X for capitals, x for small letters, c for letters without case, 9 for digits; combining marks vanish
  collapsed,  // the same with runs squeezed to one
  digits,     // every digit becomes 0
  squeezed,   // every run of digits becomes one 0
  length,     // the number of code points, in decimal
  values,     // what stands between bars: Case=Nom|Number=Sing
  prefix,     // the first k code points for k in low .. high, as far as the string reaches
  suffix,     // the last k
  ngrams,     // all substrings of k code points, k = low first, from left to right
  flags,      // the names of the orthographic flags that hold; with `both`, name=true or name=false for each
  lookup,     // the values in a resource
  cluster,    // the first k code points of each value in a resource, for the lengths k given (the whole if shorter)
};

struct Op {
  OpKind kind = OpKind::lower;
  std::uint32_t low = 0, high = 0;     // prefix, suffix, ngrams: both inclusive, 1 <= low <= high
  std::uint64_t mask = 0;              // flags: bit i stands for flag_names()[i]
  bool both = false;                   // flags
  std::uint32_t resource = 0;          // lookup, cluster
  std::vector<std::uint32_t> lengths;  // cluster: ascending
};

// The name of an operation in text, e.g. "prefix"; and back (throws std::invalid_argument).
OpKind op_kind(std::string_view name);

// Whether the operation makes at most one value for every string that stands for a position outside the sentence: then
// <s> and </s> pass through it unchanged; the others make nothing of them.
bool passes_boundary(OpKind kind);

// A column of the data seen through operations, the first of them applied first.
struct View {
  static constexpr std::uint32_t kSize = 0xFFFFFFFFu;  // as column: the number of tokens of a segment, in decimal

  std::uint32_t column = 0;
  std::vector<Op> ops;

  bool size() const { return column == kSize; }

  bool passes_boundary() const;
};

std::span<const std::string_view> flag_names();

// Bit i is set if flag i of flag_names() holds for the string.
std::uint64_t flags_of(std::u32string_view text);

// Evaluates views; owns the scratch memory, so use one per thread.
class Transformer {
 public:
  explicit Transformer(std::span<const Resource> resources) : resources_(resources) {}

  // The distinct values of `text` under `ops`, in order of first appearance; valid until the next call.
  const StringList& apply(std::span<const Op> ops, std::string_view text);

 private:
  void step(const Op& op, std::string_view text, StringList& out);
  void drop_repeated();

  std::span<const Resource> resources_;
  StringList now_, next_;
  std::u32string code_points_, lowered_;
};

}  // namespace spanloom
