// Releases of NVRTC by number, and the features that each introduced.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit::compile {

// An unknown major is 0, an unknown minor is -1.
struct Release {
  int major = 0;
  int minor = -1;

  // Returns the first "13.0" or "13" in a name such as "libnvrtc.so.13" or "cuda-12.9".
  static Release in(std::string_view name);
  std::string text() const;                          // "13.0", "13", or "unknown"
  auto operator<=>(const Release&) const = default;  // NOLINT(modernize-use-nullptr): not a pointer
};

inline constexpr Release kOldestRelease{12, 8};   // the first that supports sm_100a and sm_120a
inline constexpr Release kCachingRelease{12, 9};  // the first with a cache of its own and with --no-cache

// Returns how keys identify an NVRTC: its release, the build id of libnvrtc, and that of its builtins.
std::string identity_of(Release release, std::string_view ids);

// Returns one phrase for each feature of later releases that this one lacks.
std::vector<std::string> missing_features(Release release);

// Returns the first release that compiles for an architecture; major 0 if unknown.
Release first_release_for(std::string_view arch);

}  // namespace tma_jit::compile
