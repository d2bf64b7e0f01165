// The files about compiler crashes that an engine keeps next to its cache: reproducers, and which kernels crash it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tma_jit::cache {

inline constexpr std::string_view kCrashFolder = "crashes";
inline constexpr std::string_view kCrashSuffix = ".crash";  // <key>.crash: a description of the crash

// Removes these files and no others; returns their number.
std::uint64_t clear_crashes(const std::filesystem::path& root);

}  // namespace tma_jit::cache
