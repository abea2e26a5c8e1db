#include "spanloom/text/jenkins.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace spanloom {

std::uint32_t jenkins_hash(std::string_view bytes) {
  const auto start = 0xDEADBEEFu + static_cast<std::uint32_t>(bytes.size());
  std::uint32_t a = start;
  std::uint32_t b = start;
  std::uint32_t c = start;
  // Little-endian words of up to twelve bytes; what is missing is 0.
  const auto add = [&](std::string_view block) {
    std::array<std::uint32_t, 3> words{};
    for (std::size_t i = 0; i < block.size(); ++i) {
      words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(block[i])) << (8 * (i % 4));
    }
    a += words[0];
    b += words[1];
    c += words[2];
  };
  const auto mix = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  const auto finish = [](std::uint32_t& x, std::uint32_t y, int turn) {
    x ^= y;
    x -= std::rotl(y, turn);
  };
  while (bytes.size() > 12) {
    add(bytes.substr(0, 12));
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
    bytes.remove_prefix(12);
  }
  if (bytes.empty()) return c;
  add(bytes);
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

}  // namespace spanloom
