// Releases of NVRTC by number, and what each of them brought.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit::compile {

// 0 and -1 stand for an unknown major and minor.
struct Release {
  int major = 0;
  int minor = -1;

  // The first "13.0" or "13" in a name: "libnvrtc.so.13", "cuda-12.9".
  static Release in(std::string_view name);
  std::string text() const;                          // "13.0", "13", or "unknown"
  auto operator<=>(const Release&) const = default;  // NOLINT(modernize-use-nullptr): not a pointer
};

inline constexpr Release kOldestRelease{12, 8};   // the first that knows sm_100a and sm_120a
inline constexpr Release kCachingRelease{12, 9};  // the first with a cache of its own and with --no-cache

// How an NVRTC is named in keys: its release, the build id of libnvrtc, and that of its builtins.
std::string identity_of(Release release, std::string_view ids);

// What releases after this one can do and it cannot, one phrase each.
std::vector<std::string> missing_features(Release release);

// The release that first compiles for an architecture; none is known: major 0.
Release first_release_for(std::string_view arch);

}  // namespace tma_jit::compile
