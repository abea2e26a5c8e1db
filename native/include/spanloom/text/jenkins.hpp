#pragma once
#include <cstdint>
#include <string_view>

namespace spanloom {

// Bob Jenkins' lookup3 hash of bytes (2006, public domain), as the dictionaries in CRFsuite's model files have it.
std::uint32_t jenkins_hash(std::string_view bytes);

}  // namespace spanloom
