// A kernel around tcgen05 instructions: loads images of shared and tensor memory, runs a test's text, and stores tensor
// memory. Executed by one CTA or a pair.
#pragma once

#include <span>

#include "emulator/ptx_kernel.h"
#include "emulator/tcgen05_samples.h"

namespace tma_jit::testing::tensor_core {

constexpr u32 kImageStart = 2048;  // start of the image in shared memory; the bytes before it belong to the kernel
constexpr u32 kImageEnd = 50176;
constexpr u32 kTensorBytes = 128 * 512 * 4;
constexpr u32 kImageBytes = kImageEnd - kImageStart;
constexpr u32 kOutBytes = 128 * 128 * 4;
constexpr u32 kCtaBytes = kImageBytes + kTensorBytes + kOutBytes;

// %r5 is the address of all 512 columns, %q0 to %q127 are free, and %d9 is the thread's row of 128 words of `out`.
struct TensorText {
  std::string by_thread;  // executed by thread 0 of the (even) CTA, followed by a commit
  std::string by_warps;   // executed by all four warps of each CTA, before `by_thread`
  std::string commit;     // replaces the default commit
};

namespace kernel {

inline std::string registers(u32 first, u32 count) {
  std::string list;
  for (u32 i = first; i < first + count; ++i) list += (i == first ? "%q" : ", %q") + std::to_string(i);
  return "{" + list + "}";
}

// Copies rows of 512 words between global memory and the tensor memory of the warp's lanes.
inline std::string tensor_rows(bool in) {
  std::string text;
  for (u32 column = 0; column < 512; column += 128) {
    const std::string at = column == 0 ? "[%r5]" : "[%r5+" + std::to_string(column) + "]";
    std::string global;
    for (u32 i = 0; i < 128; i += 4) {
      const std::string address = "[%d3+" + std::to_string(kImageBytes + 4 * (column + i)) + "]";
      global += in ? "ld.global.v4.b32 " + registers(i, 4) + ", " + address + ";\n"
                   : "st.global.v4.b32 " + address + ", " + registers(i, 4) + ";\n";
    }
    text += in ? global + "tcgen05.st.sync.aligned.32x32b.x128.b32 " + at + ", " + registers(0, 128) +
                     ";\ntcgen05.wait::st.sync.aligned;\n"
               : "tcgen05.ld.sync.aligned.32x32b.x128.b32 " + registers(0, 128) + ", " + at +
                     ";\ntcgen05.wait::ld.sync.aligned;\n" + global;
  }
  return text;
}

inline std::string text_of(const TensorText& text, u32 group) {
  const std::string cta_group = "cta_group::" + std::to_string(group);
  const std::string meet =
      "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;\ntcgen05.fence::after_thread_sync;\n";
  const std::string commit = !text.commit.empty() ? text.commit
                             : group == 1
                                 ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];"
                                 : "mov.u16 %h1, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
                                   "multicast::cluster.b64 [done], %h1;";
  return ".reg .b32 %q<128>;\nmov.u32 %r9, %cluster_ctarank; mul.wide.u32 %d1, %r9, " + std::to_string(kCtaBytes) +
         "; add.u64 %base, %base, %d1;\nsetp.ne.u32 %p1, %t, 0; @!%p1 mbarrier.init.shared::cta.b64 [done], 1;\n"
         "fence.mbarrier_init.release.cluster;\nsetp.ge.u32 %p2, %t, 32; @%p2 bra allocated;\ntcgen05.alloc." +
         cta_group + ".sync.aligned.shared::cta.b32 [slot], 512;\ntcgen05.relinquish_alloc_permit." + cta_group +
         ".sync.aligned;\nallocated: shl.b32 %r1, %t, 4;\ncopy: cvt.u64.u32 %d2, %r1; add.u64 %d2, %d2, %base;\n"
         "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d2]; mov.u32 %r2, dyn; add.u32 %r2, %r2, %r1;\n"
         "st.shared.v4.u32 [%r2], {%r10, %r11, %r12, %r13};\nadd.u32 %r1, %r1, 2048; setp.lt.u32 %p3, %r1, " +
         std::to_string(kImageBytes) +
         "; @%p3 bra copy;\nfence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
         "tcgen05.fence::after_thread_sync;\nld.shared.u32 %r5, [slot];\nmul.wide.u32 %d3, %t, 2048; add.u64 %d3, %d3, "
         "%base; mul.wide.u32 %d9, %t, 512; add.u64 %d9, %d9, %base; add.u64 %d9, %d9, " +
         std::to_string(kImageBytes + kTensorBytes) + ";\n" + tensor_rows(true) + text.by_warps + "\n" + meet +
         "setp.ne.u32 %p4, %r9, 0; or.pred %p4, %p4, %p1; @%p4 bra issued;\n" + text.by_thread + "\n" + commit +
         "\nissued: poll: mbarrier.try_wait.parity.shared::cta.b64 %p3, [done], 0; @!%p3 bra poll;\n"
         "tcgen05.fence::after_thread_sync;\n" +
         tensor_rows(false) + meet + "@%p2 bra freed;\ntcgen05.dealloc." + cta_group +
         ".sync.aligned.b32 %r5, 512;\nfreed:\n";
}

}  // namespace kernel

// Runs the text on the images in `ctas` and updates their tensor memory. Returns the 128 words of every thread's `out`
// of the first CTA.
inline std::vector<u32> run_on_tensor_core(std::span<Cta> ctas, const TensorText& text, const char* arch = "sm_100a") {
  const auto group = static_cast<u32>(ctas.size());
  TestMemory memory(device_of(arch), std::size_t{kCtaBytes} * group);
  for (u32 i = 0; i < group; ++i) {
    u8* const at = memory.as<u8>() + std::size_t{i} * kCtaBytes;
    std::memcpy(at, ctas[i].shared.data() + kImageStart, kImageBytes);
    std::memcpy(at + kImageBytes, ctas[i].tensor.data(), kTensorBytes);
    std::memset(at + kImageBytes + kTensorBytes, 0, kOutBytes);
  }
  run_ptx(kernel_text(kernel::text_of(text, group), arch,
                      ".extern .shared .align 1024 .b8 dyn[];\n.shared .align 8 .b64 done;\n.shared .align 4 .b32 "
                      "slot;\n"),
          memory, {.grid = group, .block = 128, .cluster = group, .dynamic_shared = kImageBytes}, arch);
  for (u32 i = 0; i < group; ++i)
    std::memcpy(ctas[i].tensor.data(), memory.as<u8>() + std::size_t{i} * kCtaBytes + kImageBytes, kTensorBytes);
  const u32* const out = memory.as<u32>() + (kImageBytes + kTensorBytes) / 4;
  return {out, out + kOutBytes / 4};
}

}  // namespace tma_jit::testing::tensor_core
