// The search for the worker's program. The library may be a shared one in lib/, or part of the application itself.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::compile {

inline constexpr std::string_view kWorkerProgram = "tma-jit-cc";
// The first argument of a program started as a worker; the settings follow as further arguments.
inline constexpr std::string_view kWorkerFlag = "--tma-jit-compile-worker";

// Records that this program calls run_compile_worker first in main and can therefore be its own worker.
void offer_self();

// Returns the programs to try, in order: only `wanted` if it is set; else this program if it can be its own worker,
// then tma-jit-cc relative to the folders of the library and of the program: in the folder, in ../bin, in
// ../libexec/tma-jit and ../../libexec/tma-jit. Adds every path examined to `looked` unless it is null.
std::vector<std::filesystem::path> worker_programs(const std::filesystem::path& wanted,
                                                   std::vector<std::filesystem::path>* looked = nullptr);

// Returns the path of a program from `worker_programs` that is valid in other processes too; the running program is
// named there by a link whose meaning depends on the process.
std::filesystem::path real_program(const std::filesystem::path& program);

// Succeeds for the running program itself, and if only root and this user can have put the program in its place
// (base/trusted_path.h).
[[nodiscard]] Result<void> check_worker_place(const std::filesystem::path& program);

}  // namespace tma_jit::compile
