// Mistakes in names that expressions mention, wherever an expression may stand.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("names in expressions") {
  constexpr std::string_view kNames =
      "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n//! type T = f32\n//! dim M\n"
      "//! param STAGES = 1 in {1}\n//! tensor A : T[M]\n//! scalar alpha : f32\n//! workspace w 16\n//! hook h() : "
      "f32\n";
  const auto refused = [&](const Refused& row) { check_refused(kNames, row); };
  refused({"//! require STAGE > 1", 13, 5, "unknown name STAGE; did you mean \"STAGES\"?"});
  refused({"//! require WARPS > 1", 13, 5, "unknown name WARPS"});
  refused({"//! require sm_count > 1", 13, 8, "unknown name sm_count; did you mean \"device.sm_count\"?"});
  refused({"//! require T == 4", 13, 1, "T is a type, not a number; sizeof(T) is its size in bytes"});
  refused({"//! require A > 1", 13, 1, "A is a tensor, not a number; stride(A, 0) and alignment(A) are known of it"});
  refused(
      {"//! require alpha > 1", 13, 5, "alpha is a scalar, and its value is not known when a configuration is chosen"});
  refused({"//! require w > 1", 13, 1, "w is a workspace, not a number"});
  refused({"//! require h > 1", 13, 1, "h is a hook, not a number"});
  refused({"//! require k > 1", 13, 1, "k is the kernel, not a number"});
  refused({"//! require device.sm_cout > 1", 20, 7, "a device has no sm_cout; did you mean \"sm_count\"?"});
  refused({"//! require sizeof(bf17) > 1", 20, 4, "unknown type bf17; did you mean \"bf16\"?"});
  refused({"//! require sizeof(A) > 1", 20, 1, "sizeof takes a type, and A is a tensor"});
  refused({"//! require stride(AA, 0) > 1", 20, 2, "unknown tensor AA; did you mean \"A\"?"});
  refused({"//! require stride(M, 0) > 1", 20, 1, "stride takes a tensor, and M is a dim"});
  refused({"//! require alignment(STAGES) > 1", 23, 6, "alignment takes a tensor, and STAGES is a param"});
  refused({"//! require given(STAGES) == 0", 19, 6, "given takes a hook, and STAGES is a param"});
  refused({"//! require given(nope) == 0", 19, 4, "unknown hook nope"});
  refused({"//! require stride(A, 1) > 1", 20, 1, "A has no dimension 1: it has 1, counted from 0"});
}

TEST_CASE("names are checked in every place an expression may stand") {
  const std::vector<std::string_view> lines = {"//! let X = NOPE",
                                               "//! require NOPE",
                                               "//! tensor A : f32[NOPE]",
                                               "//! tensor A : f32[1] box [NOPE]",
                                               "//! tensor A : f32[1] box [1] steps [NOPE]",
                                               "//! tensor A : f32[1] box [1] swizzle NOPE",
                                               "//! tensor A : f32[1] box [1] interleave NOPE",
                                               "//! tensor A : f32[1] box [1] l2 NOPE",
                                               "//! tensor A : f32[1] when NOPE",
                                               "//! workspace w NOPE",
                                               "//! hook h(f32 a when NOPE) : f32",
                                               "//! cluster NOPE",
                                               "//! work flops NOPE",
                                               "//! work bytes NOPE",
                                               "//! reference r grid NOPE block 1",
                                               "//! reference r grid 1 block NOPE",
                                               "//! reference r grid 1 block 1 bits NOPE"};
  for (const std::string_view line : lines) {
    check_refused({line, static_cast<int>(line.find("NOPE")) + 1, 4, "unknown name NOPE"});
  }
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid NOPE block 1", 17, 4, "unknown name NOPE"});
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid 1 block NOPE", 25, 4, "unknown name NOPE"});
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid 1 block 1 smem NOPE", 32, 4, "unknown name NOPE"});
}

}  // namespace tma_jit::templates
