#include "compile/release.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tma_jit::compile {
namespace {

struct Feature {
  Release since;
  std::string_view words;
};

// PTX ISA release notes: 8.8 came with CUDA 12.9, 9.0 with 13.0, 9.1 with 13.1. NVRTC guide, "Caching (CUDA 12.9+)".
constexpr Release kPtx88{12, 9};
constexpr Release kPtx90{13, 0};
constexpr Release kPtx91{13, 1};
constexpr std::array kFeatures = {
    Feature{kPtx88, "targets sm_103, sm_103a, sm_121 and sm_121a"},
    Feature{kPtx88, "family targets (suffix f): sm_100f, sm_103f, sm_120f, sm_121f"},
    Feature{kPtx88, "256-bit ld.global and st.global"},
    Feature{kPtx88, "min and max of three operands"},
    Feature{kPtx88, "tcgen05.mma with K = 96 and .block16/.block32 scales, tcgen05.ld.red"},
    Feature{kPtx88, "tensormap.replace to the 96-byte swizzle"},
    Feature{kPtx90, "targets sm_88 and sm_110 (called sm_101 before)"},
    Feature{kPtx90, "spilling to shared memory (pragma enable_smem_spilling)"},
    Feature{kPtx90, ".blocksareclusters, and st.bulk with a 32-bit size"},
    Feature{kPtx91, "cvt from packed f16x2 and bf16x2 to e4m3x2, e5m2x2, e2m1x2 and the 6-bit types"},
    Feature{kPtx91, "multimem.cp.async.bulk"},
};

struct FirstRelease {
  std::string_view digits;
  Release release;
};
constexpr std::array kTargets = {
    FirstRelease{"100", {12, 8}}, FirstRelease{"120", {12, 8}}, FirstRelease{"103", kPtx88},
    FirstRelease{"121", kPtx88},  FirstRelease{"88", kPtx90},   FirstRelease{"110", kPtx90},
};

}  // namespace

Release Release::in(std::string_view name) {
  Release release;
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) return release;
  const char* end = name.data() + name.size();
  const char* at = std::from_chars(name.data() + digits, end, release.major).ptr;
  if (at != end && *at == '.') std::from_chars(at + 1, end, release.minor);
  return release;
}

std::string Release::text() const {
  if (major == 0) return "unknown";
  return minor < 0 ? fmt::format("{}", major) : fmt::format("{}.{}", major, minor);
}

std::string identity_of(Release release, std::string_view ids) {
  return fmt::format("nvrtc {} {}", release.text(), ids);
}

std::vector<std::string> missing_features(Release release) {
  std::vector<std::string> phrases;
  for (const Feature& feature : kFeatures) {
    if (release < feature.since) phrases.push_back(fmt::format("{} (since {})", feature.words, feature.since.text()));
  }
  return phrases;
}

Release first_release_for(std::string_view arch) {
  const std::size_t digits = arch.find_first_of("0123456789");
  if (digits == std::string_view::npos) return {};
  const std::string_view number = arch.substr(digits, arch.find_first_not_of("0123456789", digits) - digits);
  for (const FirstRelease& target : kTargets) {
    if (target.digits == number) return arch.ends_with('f') ? std::max(target.release, kPtx88) : target.release;
  }
  return {};
}

}  // namespace tma_jit::compile
