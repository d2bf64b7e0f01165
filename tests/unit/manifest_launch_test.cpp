// Mistakes in the directives of the launch: cluster, launch, work, reference, inputs.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("cluster, launch, work, reference and inputs") {
  check_refused({"//! cluster", 12, 1, "expected the cluster, found the end of the line"});
  check_refused({"//! cluster 1, 2, 3, 4", 22, 1, "more than 3 values for the cluster"});
  const auto launch = [](const Refused& row) { check_refused("//! kernel k\n//! arch sm_90a\n", row); };
  launch({"//! launch", 11, 1, "expected \"grid\", found the end of the line"});
  launch({"//! launch block 1", 12, 5, "expected \"grid\", found \"block\""});
  launch({"//! launch grid", 16, 1, "expected the grid, found the end of the line"});
  launch({"//! launch grid 1", 18, 1, "expected an operator, \",\" or \"block\", found the end of the line"});
  launch({"//! launch grid 1, 2, 3, 4 block 1", 26, 1, "more than 3 values for the grid"});
  launch({"//! launch grid 1 block 1, 2, 3, 4", 34, 1, "more than 3 values for the block"});
  launch({"//! launch grid 1 block 1 pdl smem 2", 31, 4, "expected a doc text or the end of the line, found \"smem\""});
  launch({"//! launch grid 1 block 1 waits pdl", 33, 3, "expected a doc text or the end of the line, found \"pdl\""});
  launch({"//! launch grid 1 block 1 smem", 31, 1, "expected the shared memory in bytes, found the end of the line"});
  launch({"//! launch grid 1 block 1 smem 1 2", 34, 1,
          "expected an operator, \"waits\", \"pdl\", a doc text or the end of the line, found \"2\""});
  launch(
      {"//! launch grid 1 block 1 sm 2", 27, 2,
       "expected an operator, \",\", \"smem\", \"waits\", \"pdl\", a doc text or the end of the line, found \"sm\""});
  check_refused({"//! work", 9, 1, "expected \"flops\", \"bytes\" or \"cycles\", found the end of the line"});
  check_refused({"//! work flops", 15, 1, "expected the number of flops, found the end of the line"});
  check_refused({"//! work flops 1 by 2", 18, 2,
                 "expected an operator, \"bytes\", \"cycles\", a doc text or the end of the line, found \"by\""});
  check_refused({"//! work bytes 1 flops 2", 18, 5,
                 "expected an operator, \"cycles\", a doc text or the end of the line, found \"flops\""});
  check_refused({"//! reference", 14, 1, "expected the name of the kernel, found the end of the line"});
  check_refused({"//! reference k grid 1 block 1", 15, 1, "k is already declared, as the kernel on line 1"});
  check_refused(
      {"//! reference r grid 1", 23, 1, "expected an operator, \",\" or \"block\", found the end of the line"});
  check_refused({"//! inputs k grid 1 block 1", 12, 1, "k is already declared, as the kernel on line 1"});
  check_refused({"//! inputs i grid 1 block 1 bits 3", 29, 4,
                 "expected an operator, \",\", a doc text or the end of the line, found \"bits\""});
}

}  // namespace tma_jit::templates
