#include "emulator/tcgen05_gemm.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tma_jit::testing {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

Lines gemm_lines() {
  Lines lines = {
      {"registers", ".reg .b32 %q<64>;\n"},
      {"barrier", "setp.ne.u32 %p1, %t, 0;\n@!%p1 mbarrier.init.shared::cta.b64 [m], 1;\n"},
      {"announce", "fence.mbarrier_init.release.cluster;\n"},
      {"alloc",
       "setp.ge.u32 %p2, %t, 32;\n@%p2 bra allocated;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 64;\n"
       "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nallocated:\n"},
      {"image",
       "mul.lo.u32 %r1, %t, 48;\ncvt.u64.u32 %d1, %r1;\nadd.u64 %d1, %d1, %base;\nmov.u32 %r2, dyn;\nadd.u32 %r3, %r2, "
       "%r1;\n"},
  };
  std::string copy;
  for (int i = 0; i < 48; i += 4) {
    const std::string at = std::to_string(i);
    copy += "ld.global.u32 %r4, [%d1+" + at + "];\nst.shared.u32 [%r3+" + at + "], %r4;\n";
  }
  lines.emplace_back("copy", copy);
  lines.emplace_back("proxy", "fence.proxy.async.shared::cta;\n");
  lines.emplace_back("before", "tcgen05.fence::before_thread_sync;\n");
  lines.emplace_back("sync", "bar.sync 0;\n");
  lines.emplace_back("after", "tcgen05.fence::after_thread_sync;\n");
  lines.emplace_back("slot", "ld.shared.u32 %r5, [s];\n");
  // No swizzle, K-major: eight rows of 16 bytes are contiguous; the second chunk of A is at 2048, that of B at 1024.
  lines.emplace_back("descriptors",
                     "shr.u32 %r6, %r2, 4;\ncvt.u64.u32 %d2, %r6;\nor.b64 %d3, %d2, 0x0000400800800000;\n"
                     "add.u64 %d4, %d2, 256;\nor.b64 %d4, %d4, 0x0000400800400000;\nmov.u32 %r7, 0x08100490;\n");
  lines.emplace_back("skip", "@%p1 bra issued;\n");
  lines.emplace_back("mma", "setp.eq.u32 %p3, %t, 1;\ntcgen05.mma.cta_group::1.kind::f16 [%r5], %d3, %d4, %r7, %p3;\n");
  lines.emplace_back("second", "");
  lines.emplace_back("commit", "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m];\n");
  lines.emplace_back("issued", "issued:\n");
  lines.emplace_back("wait", "poll:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [m], 0;\n@!%p4 bra poll;\n");
  lines.emplace_back("after wait", "tcgen05.fence::after_thread_sync;\n");
  std::string registers;
  for (int i = 0; i < 64; ++i) registers += (i == 0 ? "%q" : ", %q") + std::to_string(i);
  lines.emplace_back("load", "tcgen05.ld.sync.aligned.32x32b.x64.b32 {" + registers + "}, [%r5];\n");
  lines.emplace_back("wait load", "tcgen05.wait::ld.sync.aligned;\n");
  std::string store = "shl.b32 %r8, %t, 8;\ncvt.u64.u32 %d5, %r8;\nadd.u64 %d5, %d5, %base;\n";
  for (int i = 0; i < 64; ++i)
    store += "st.global.u32 [%d5+" + std::to_string(kTcgen05Out + 4 * static_cast<unsigned>(i)) + "], %q" +
             std::to_string(i) + ";\n";
  lines.emplace_back("store", store);
  lines.emplace_back("before free", "tcgen05.fence::before_thread_sync;\n");
  lines.emplace_back("sync free", "bar.sync 0;\n");
  lines.emplace_back("free", "@%p2 bra freed;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;\nfreed:\n");
  return lines;
}

}  // namespace

std::string tcgen05_gemm(const std::map<std::string, std::string>& changes) {
  std::string body;
  for (const auto& [name, text] : gemm_lines()) {
    const auto change = changes.find(name);
    std::string line = change != changes.end() ? change->second : text;
    std::ranges::replace(line, '\n', ' ');
    body += line + "\n";
  }
  return body;
}

int tcgen05_line(const std::string& name) {
  const Lines lines = gemm_lines();
  const auto found = std::ranges::find(lines, name, &Lines::value_type::first);
  return static_cast<int>(found - lines.begin()) + 1;
}

}  // namespace tma_jit::testing
