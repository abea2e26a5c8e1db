#include "spanloom/text/addresses.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace spanloom::text {
namespace {

constexpr std::size_t kLocalLength = 64;  // RFC 5321, 4.5.3.1.1: the longest name before the @
constexpr std::size_t kLabelLength = 63;  // of a host
constexpr std::size_t kLabels = 9;
constexpr char32_t kLongS = 0x17F;  // an s, where case does not matter

class Finder {
 public:
  Finder(std::u32string_view text, std::span<const Symbol> skeleton) : text_(text), skeleton_(skeleton) {}

  void run(std::vector<Range>& out) const {
    out.clear();
    const std::size_t n = text_.size();
    std::size_t seen = 0;   // up to where addresses were looked for
    std::size_t after = 0;  // the end of the last URL with its tail
    for (std::size_t i = 0; i < n; ++i) {
      if (skeleton_[i] != ':' && skeleton_[i] != '.') continue;
      const auto [start, rest] = url_prefix(i);
      if (start == rest || start < after || rest == n || !alnum(rest)) continue;
      after = rest;
      while (after < n && !ends_url(after)) ++after;
      const std::size_t end = without_tail(start, after);
      emails(seen, start, out);
      out.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
      seen = end;
      i = after - 1;
    }
    emails(seen, n, out);
  }

 private:
  bool alnum(std::size_t i) const { return character(text_[i]).is(Character::kAlnum); }

  // Whether the letters of `word`, which is in lower case, stand right before i, in any case.
  bool before(std::size_t i, std::string_view word) const {
    if (i < word.size()) return false;
    for (std::size_t k = 0; k < word.size(); ++k) {
      const char32_t c = text_[i - word.size() + k];
      if ((c | 32) != static_cast<char32_t>(word[k]) && !(word[k] == 's' && c == kLongS)) return false;
    }
    return true;
  }

  // http://  https://  ftp://  www.  around the colon or period at i: where it starts and where it ends; (0, 0) if
  // none.
  std::pair<std::size_t, std::size_t> url_prefix(std::size_t i) const {
    if (skeleton_[i] == '.') return before(i, "www") ? std::pair(i - 3, i + 1) : std::pair<std::size_t, std::size_t>();
    if (i + 2 >= text_.size() || skeleton_[i + 1] != '/' || skeleton_[i + 2] != '/') return {};
    for (const std::string_view scheme : {"http", "https", "ftp"}) {
      if (before(i, scheme)) return {i - scheme.size(), i + 3};
    }
    return {};
  }

  bool ends_url(std::size_t i) const {
    const char32_t c = text_[i];
    return std::u32string_view(U"<>\"“”«»").find(c) != std::u32string_view::npos ||
           (skeleton_[i] == ' ' && character(c).is(Character::kSpace));
  }

  // The end of a URL without the punctuation that belongs to the sentence around it.
  std::size_t without_tail(std::size_t start, std::size_t end) const {
    constexpr std::u32string_view opening = U"([{", closing = U")]}";
    std::array<std::ptrdiff_t, 3> surplus{};  // of closing over opening brackets
    const std::u32string_view url = text_.substr(start, end - start);
    for (std::size_t k = 0; k < surplus.size(); ++k)
      surplus[k] = std::count(url.begin(), url.end(), closing[k]) - std::count(url.begin(), url.end(), opening[k]);
    for (;; --end) {
      const std::size_t bracket = closing.find(text_[end - 1]);
      if (bracket < surplus.size() && surplus[bracket] > 0)
        --surplus[bracket];
      else if (std::u32string_view(U".,;:!?'’*_-").find(text_[end - 1]) == std::u32string_view::npos)
        return end;
    }
  }

  std::size_t find_at(std::size_t low, std::size_t high) const {
    if (low >= high) return high;
    const void* found = std::memchr(skeleton_.data() + low, '@', high - low);
    return found == nullptr ? high : static_cast<std::size_t>(static_cast<const Symbol*>(found) - skeleton_.data());
  }

  void emails(std::size_t low, std::size_t high, std::vector<Range>& out) const {
    for (std::size_t at = find_at(low, high); at < high; at = find_at(std::max(at + 1, low), high)) {
      const std::size_t least = std::max(low, at - std::min(at, kLocalLength));
      std::size_t start = at;
      while (start > least &&
             (alnum(start - 1) || std::u32string_view(U"._%+-").find(text_[start - 1]) != std::u32string_view::npos))
        --start;
      while (start < at && !alnum(start)) ++start;
      const std::size_t end = host_end(at + 1, high);
      if (start == at || end == at + 1) continue;
      out.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
      low = end;
    }
  }

  // The end of a host of two labels or more at i, or i.
  std::size_t host_end(std::size_t i, std::size_t high) const {
    const auto label = [&](std::size_t k) {
      if (k >= high || !alnum(k)) return k;
      const std::size_t limit = std::min(high, k + kLabelLength);
      while (k < limit && (alnum(k) || text_[k] == U'-')) ++k;
      return k;
    };
    std::size_t end = label(i);
    if (end == i) return i;
    for (std::size_t labels = 1; labels < kLabels; ++labels) {
      const std::size_t next = end < high && text_[end] == U'.' ? label(end + 1) : end + 1;
      if (next == end + 1) return labels == 1 ? i : end;
      end = next;
    }
    return end;
  }

  std::u32string_view text_;
  std::span<const Symbol> skeleton_;
};

}  // namespace

void find_addresses(std::u32string_view text, std::span<const Symbol> skeleton, std::vector<Range>& out) {
  Finder(text, skeleton).run(out);
}

}  // namespace spanloom::text
