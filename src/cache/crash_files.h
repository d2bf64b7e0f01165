// What an engine keeps beside its cache about crashes of the compiler: reproducers, and which kernels crash it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tma_jit::cache {

inline constexpr std::string_view kCrashFolder = "crashes";
inline constexpr std::string_view kCrashSuffix = ".crash";  // <key>.crash: what happened, in words

// Removes such files, and nothing else that lies there; returns how many.
std::uint64_t clear_crashes(const std::filesystem::path& root);

}  // namespace tma_jit::cache
