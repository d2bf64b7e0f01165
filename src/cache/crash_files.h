// The files about compiler crashes that an engine keeps next to its cache: reproducers, and which kernels crash it.
#pragma once

#include <cstdint>
#include <string_view>

#include "cache/file_system.h"

namespace tma_jit::cache {

inline constexpr std::string_view kCrashFolder = "crashes";
inline constexpr std::string_view kCrashSuffix = ".crash";  // <key>.crash: a description of the crash

// Removes these files and no others from an open cache folder; returns their number.
std::uint64_t clear_crashes(const FileSystem& files, int folder);

}  // namespace tma_jit::cache
