// The process that compiles. The library starts it at the first compile, so that a compiler that crashes, hangs or
// exhausts memory causes an error and not the end of the application.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <tma_jit/export.h>

namespace tma_jit {

// Where NVRTC runs and which resources it may use. Part of Options.
struct CompilerOptions {
  enum class Place : std::uint8_t {
    automatic,   // as TMA_JIT_COMPILER says ("worker" or "inproc"); if unset, a worker, or this process with one
                 // warning if no worker can be started
    worker,      // a worker, or an error
    in_process,  // this process, for programs that may not start another: a compiler crash then ends the program
  };
  Place place = Place::automatic;
  std::filesystem::path worker{};  // path of the worker's program; empty: TMA_JIT_WORKER, then a search
  int workers = 0;                 // most workers this engine runs at a time; 0: as many as the machine allows
  int compiles_at_once = 0;        // most compiles on this machine by all processes of this user; 0: from processors
                                   // and memory
  std::chrono::milliseconds time_limit{300'000};        // of one compile
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // address space of a worker, bytes; 0: no limit
};

// For a program that acts as its own worker, so that only one file is shipped. Call it first in main:
//
//   int main(int argc, char** argv) {
//     if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
//
// Returns the exit status if the process was started as a worker, else nullopt. Engines created after that call start
// this program as their worker.
TMA_JIT_API std::optional<int> run_compile_worker(int argc, char** argv);

}  // namespace tma_jit
