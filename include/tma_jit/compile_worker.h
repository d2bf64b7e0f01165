// The process that compiles. The library starts one at the first compile, so that a compiler that crashes, hangs or
// takes all memory costs an error and never the application.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <tma_jit/export.h>

namespace tma_jit {

// Where NVRTC runs, and what it may take. Part of Options.
struct CompilerOptions {
  enum class Place : std::uint8_t {
    automatic,   // as TMA_JIT_COMPILER says ("worker" or "inproc"); else a worker, or this process where none can be
                 // started, with one warning
    worker,      // a worker, or an error
    in_process,  // this process, for those who may not start another: a crash of the compiler is then a crash of it
  };
  Place place = Place::automatic;
  std::filesystem::path worker{};  // its program; empty: TMA_JIT_WORKER, then a search
  int workers = 0;                 // of this engine at a time; 0: as many as the machine takes
  int compiles_at_once = 0;        // on this machine, by all programs of this user; 0: by processors and memory
  std::chrono::milliseconds time_limit{300'000};        // of one compile
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // of a worker's addresses, bytes; 0: none
};

// For a program that is to be its own worker, so that one file is shipped: the first thing in main.
//
//   int main(int argc, char** argv) {
//     if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
//
// It returns nothing where this is an ordinary start; engines made from then on start this program as their worker.
TMA_JIT_API std::optional<int> run_compile_worker(int argc, char** argv);

}  // namespace tma_jit
