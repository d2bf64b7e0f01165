// The directives of the launch: cluster, launch, work, reference, inputs.
#include <fmt/format.h>

#include "core/failure.h"
#include "template/directives.h"

namespace tma_jit::templates {
namespace {

Result<void> parse_grid(LineParser& line, std::vector<Expression>& grid) {
  if (!line.accept_word("grid")) return line.unexpected("\"grid\"");
  TMA_JIT_ASSIGN(grid, line.expressions("the grid", 3));
  return {};
}

Result<void> parse_block(LineParser& line, std::vector<Expression>& block) {
  if (!line.accept_word("block")) return line.unexpected("an operator, \",\" or \"block\"");
  TMA_JIT_ASSIGN(block, line.expressions("the block", 3));
  return {};
}

// Parses the name, the grid and the block of a kernel that is compiled with TMA_JIT_REFERENCE.
Result<ReferenceKernel> parse_entry(LineParser& line, Builder& builder) {
  ReferenceKernel kernel;
  TMA_JIT_ASSIGN(const Token name, declare(line, builder, NameKind::kernel));
  kernel.entry = name.text;
  kernel.at = name.at;
  TMA_JIT_CHECK(parse_grid(line, kernel.grid));
  TMA_JIT_CHECK(parse_block(line, kernel.block));
  return kernel;
}

}  // namespace

Result<void> parse_cluster(LineParser& line, Builder& builder) {
  TMA_JIT_ASSIGN(builder.result.cluster, line.expressions("the cluster", 3));
  Declaration ignored;
  return line.finish(ignored, "an operator, \",\", a doc text or the end of the line");
}

Result<void> parse_launch(LineParser& line, Builder& builder) {
  LaunchShape& launch = builder.result.launch;
  launch.at = line.peek().at;
  TMA_JIT_CHECK(parse_grid(line, launch.grid));
  TMA_JIT_CHECK(parse_block(line, launch.block));
  if (line.accept_word("smem")) {
    TMA_JIT_ASSIGN(launch.smem, line.expression("the shared memory in bytes"));
  }
  launch.programmatic = line.accept_word("pdl");
  launch.waits = launch.programmatic || line.accept_word("waits");
  Declaration ignored;
  return line.finish(
      ignored, launch.waits  ? "a doc text or the end of the line"
               : launch.smem ? "an operator, \"waits\", \"pdl\", a doc text or the end of the line"
                             : "an operator, \",\", \"smem\", \"waits\", \"pdl\", a doc text or the end of the line");
}

Result<void> parse_work(LineParser& line, Builder& builder) {
  WorkFormula& work = builder.result.work;
  if (line.accept_word("flops")) {
    TMA_JIT_ASSIGN(work.flops, line.expression("the number of flops"));
  }
  if (line.accept_word("bytes")) {
    TMA_JIT_ASSIGN(work.bytes, line.expression("the number of bytes"));
  }
  if (line.accept_word("cycles")) {
    TMA_JIT_ASSIGN(work.cycles, line.expression("the number of cycles"));
  }
  if (!work.flops && !work.bytes && !work.cycles) return line.unexpected("\"flops\", \"bytes\" or \"cycles\"");
  Declaration ignored;
  return line.finish(ignored, work.cycles  ? "an operator, a doc text or the end of the line"
                              : work.bytes ? "an operator, \"cycles\", a doc text or the end of the line"
                                           : "an operator, \"bytes\", \"cycles\", a doc text or the end of the line");
}

Result<void> parse_reference(LineParser& line, Builder& builder) {
  TMA_JIT_ASSIGN(ReferenceKernel reference, parse_entry(line, builder));
  if (line.accept_word("bits")) {
    TMA_JIT_ASSIGN(reference.bits, line.expression("the bits that sums keep"));
  }
  Declaration ignored;
  TMA_JIT_CHECK(line.finish(ignored, reference.bits
                                         ? "an operator, a doc text or the end of the line"
                                         : "an operator, \",\", \"bits\", a doc text or the end of the line"));
  builder.result.reference = std::move(reference);
  return {};
}

Result<void> parse_inputs(LineParser& line, Builder& builder) {
  TMA_JIT_ASSIGN(builder.result.inputs, parse_entry(line, builder));
  Declaration ignored;
  return line.finish(ignored, "an operator, \",\", a doc text or the end of the line");
}

}  // namespace tma_jit::templates
