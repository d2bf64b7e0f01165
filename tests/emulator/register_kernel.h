// Kernels for tests that fill and read the registers of all threads and fill shared memory: each thread loads a row of
// global memory, executes the test's text and stores a row.
#pragma once

#include <initializer_list>

#include "emulator/matrix_samples.h"
#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

// Registers %STEM0, %STEM1 and so on of every thread. Those of warp w begin at index w * count of `bank`.
struct RegisterBank {
  const char* stem;
  const Bank& bank;
  u32 width = 4;  // bytes
};

struct RegisterRun {
  const char* arch = "sm_90a";
  u32 warps = 1;
  std::vector<u8> shared = {};  // copied to address 2048, which is %r0; a multiple of 16 bytes
  const char* before = "";      // declarations
};

namespace registers {

inline std::string list_of(const char* stem, u32 count) {
  std::string list;
  for (u32 i = 0; i < count; ++i) list += (i == 0 ? "%" : ", %") + std::string(stem) + std::to_string(i);
  return "{" + list + "}";
}

inline std::string row_moves(const char* instruction, const char* stem, u32 count, u32 width, u32 at, bool load) {
  std::string text;
  for (u32 i = 0; i < count; ++i) {
    const std::string address = "[%row+" + std::to_string(at + 8 * i) + "]";
    const std::string name = "%" + std::string(stem) + std::to_string(i);
    text += std::string(instruction) + ".global.b" + std::to_string(8 * width) + " " +
            (load ? name + ", " + address : address + ", " + name) + ";\n";
  }
  return text;
}

// Copies from global memory at `from` to shared memory, with all threads.
inline std::string shared_copy(u64 from, std::size_t bytes, u32 threads) {
  if (bytes == 0) return "";
  return "shl.b32 %r1, %t, 4;\nimage: setp.ge.u32 %p1, %r1, " + std::to_string(bytes) +
         "; @%p1 bra imaged;\ncvt.u64.u32 %d1, %r1; add.u64 %d1, %d1, %base;\nld.global.v4.u32 {%r2, %r3, %r4, %r5}, "
         "[%d1+" +
         std::to_string(from) + "];\nadd.u32 %r6, %r0, %r1; st.shared.v4.u32 [%r6], {%r2, %r3, %r4, %r5};\n" +
         "add.u32 %r1, %r1, " + std::to_string(16 * threads) +
         "; bra image;\nimaged: fence.proxy.async.shared::cta; bar.sync 0;\n";
}

}  // namespace registers

// Returns the registers of `out` after `text`; only the size of its bank is used.
inline Bank run_on_registers(const std::string& text, std::initializer_list<RegisterBank> in, const RegisterBank& out,
                             const RegisterRun& run = {}) {
  using namespace registers;
  const u32 threads = 32 * run.warps;
  std::string declare, load;
  u32 words = 0;
  for (const RegisterBank& r : in) {
    const u32 count = r.bank.count() / run.warps;
    declare += ".reg .b" + std::to_string(8 * r.width) + " %" + r.stem + "<" + std::to_string(count) + ">;\n";
    load += row_moves("ld", r.stem, count, r.width, 8 * words, true);
    words += count;
  }
  const u32 results = out.bank.count() / run.warps, out_word = words;
  declare += ".reg .b" + std::to_string(8 * out.width) + " %" + out.stem + "<" + std::to_string(results) + ">;\n";
  words += results;
  const u64 image_at = u64{words} * 8 * threads;
  TestMemory memory(device_of(run.arch), image_at + run.shared.size() + 16);
  const auto slot = [&](u32 thread, u32 word) -> u64& { return memory.as<u64>()[thread * words + word]; };
  u32 first = 0;
  for (const RegisterBank& r : in) {
    const u32 count = r.bank.count() / run.warps;
    for (u32 t = 0; t < threads; ++t)
      for (u32 i = 0; i < count; ++i) slot(t, first + i) = r.bank.word(t / 32 * count + i, t % 32);
    first += count;
  }
  if (!run.shared.empty()) std::memcpy(memory.as<u8>() + image_at, run.shared.data(), run.shared.size());
  const std::string body = declare + ".reg .b64 %row;\nmov.u32 %r0, dyn; mul.wide.u32 %row, %t, " +
                           std::to_string(8 * words) + "; add.u64 %row, %row, %base;\n" +
                           shared_copy(image_at, run.shared.size(), threads) + load + text + "\n" +
                           row_moves("st", out.stem, results, out.width, 8 * out_word, false);
  run_ptx(kernel_text(body, run.arch,
                      std::string(".shared .b8 other[16];\n.extern .shared .align 1024 .b8 dyn[];\n") + run.before),
          memory, {.block = threads, .dynamic_shared = static_cast<u32>(run.shared.size())}, run.arch);
  Bank bank(out.bank.count(), out.width);
  for (u32 t = 0; t < threads; ++t)
    for (u32 i = 0; i < results; ++i)
      bank.put(t / 32 * results + i, t % 32, 0, static_cast<int>(8 * out.width), slot(t, out_word + i));
  return bank;
}

}  // namespace tma_jit::testing
