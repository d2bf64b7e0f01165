// Where the worker's program is. The library may be a shared one in lib/, or part of the application itself.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::compile {

inline constexpr std::string_view kWorkerProgram = "tma-jit-cc";
// The first argument of a program that is to be a worker, followed by the settings as words.
inline constexpr std::string_view kWorkerFlag = "--tma-jit-compile-worker";

// This program calls run_compile_worker first of all, and so can be its own worker.
void offer_self();

// Programs to try, in order: only `wanted` where it is set; else this program where it offers itself, then tma-jit-cc
// in the folder of the library and of the program: beside it, in ../bin, in ../libexec/tma-jit and
// ../../libexec/tma-jit. Where `looked` is given, it gets every path that was looked at.
std::vector<std::filesystem::path> worker_programs(const std::filesystem::path& wanted,
                                                   std::vector<std::filesystem::path>* looked = nullptr);

// The file of a program that `worker_programs` names, which another process finds too: the running program has a name
// there that means another in each process.
std::filesystem::path real_program(const std::filesystem::path& program);

// Passes for the running program itself, and where only root and this user can have put the program where it is
// (base/trusted_path.h).
[[nodiscard]] Result<void> check_worker_place(const std::filesystem::path& program);

}  // namespace tma_jit::compile
