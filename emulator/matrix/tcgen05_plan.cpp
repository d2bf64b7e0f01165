// Checks of tcgen05.mma's operands, and the memory that it accesses.
#include "emulator/fault.h"
#include "emulator/matrix/tcgen05_layout.h"
#include "emulator/matrix/tcgen05_mma.h"
#include "emulator/matrix/tcgen05_operands.h"

namespace tma_jit::emulator::matrix {
namespace {

void check_lane(const DataPath& path, u32 address, const char* what) {
  const u32 lane = lane_of(address);
  if (lane != 0 && !(path.spread && lane == 16)) {
    throw_fault(FaultKind::tensor_memory, "{} of tcgen05.mma lies at lane {}; with its shape it must begin at lane 0{}",
                what, lane, path.spread ? " or 16" : "");
  }
}

// Appends the lanes of one part, in groups of 16 if rows are spread.
void append_lanes(const DataPath& path, u32 lane, u32 column, u32 columns, std::vector<Region>& regions) {
  if (!path.spread) {
    regions.push_back({lane, path.rows * path.parts, column, columns});
    return;
  }
  for (u32 row = 0; row < path.rows; row += 16) regions.push_back({lane + path.lane(0, row), 16, column, columns});
}

void plan_a(const TensorMma& mma, const DataPath& path, u32 shared_size, TensorMmaPlan& plan) {
  if (!mma.a_in_tensor) return append_footprint(operand_a(mma, plan.instruction), shared_size, plan.reads);
  if (plan.instruction.a_major == Major::mn)
    throw_fault(FaultKind::descriptor, "tcgen05.mma cannot transpose A from tensor memory");
  const auto address = static_cast<u32>(mma.a);
  check_lane(path, address, "A");
  if (path.spread && lane_of(address) != lane_of(mma.d)) {
    throw_fault(FaultKind::tensor_memory, "A lies at lane {} and D at lane {}; with this shape they need the same",
                lane_of(address), lane_of(mma.d));
  }
  const u32 columns = words_of_row(mma.form.kind, plan.instruction);
  append_lanes(path, lane_of(address), column_of(address), columns, plan.tensor_reads);
}

void plan_scales(const TensorMma& mma, const DataPath& path, TensorMmaPlan& plan) {
  if (!is_scaled(mma.form.kind)) return;
  const auto append = [&](u32 address, u32 count, const char* what) {
    const u32 base = scale_address(address);
    if (lane_of(base) != 0) throw_fault(FaultKind::tensor_memory, "{} begin at lane {}, not 0", what, lane_of(base));
    plan.tensor_reads.push_back({0, kTensorLanes, column_of(base), (count + 31) / 32});
  };
  append(mma.a_scales, path.rows, "the scale factors of A");
  append(mma.b_scales, plan.instruction.n, "the scale factors of B");
}

void check_form(const TensorMma& mma, const InstructionDescriptor& instruction) {
  if (mma.scale_input > 15)
    throw_fault(FaultKind::descriptor, "tcgen05.mma scales D by 2^-{}; 15 is the most", mma.scale_input);
  if (mma.zero_columns) check_zero_columns(*mma.zero_columns, instruction);
  const u32 step = mma.form.cta_group == 2 && mma.a_in_tensor ? 32 : 1;
  if (instruction.n % step != 0) {
    throw_fault(FaultKind::descriptor,
                "tcgen05.mma by two CTAs with A in tensor memory needs N to be a multiple of 32, not {}",
                instruction.n);
  }
}

}  // namespace

DataPath data_path(const MmaForm& form, u32 m) {
  if (form.cta_group == 2) return m == 256 ? DataPath{128, 1, false} : DataPath{64, 2, false};
  if (m == 128) return {128, 1, false};
  if (form.weight_stationary) return m == 64 ? DataPath{64, 2, false} : DataPath{32, 4, false};
  return {64, 1, true};
}

TensorMmaPlan plan(const TensorMma& mma, u32 shared_size) {
  TensorMmaPlan plan;
  plan.instruction = decode_instruction(mma.form, mma.instruction);
  check_form(mma, plan.instruction);
  const DataPath path = data_path(mma.form, plan.instruction.m);
  check_lane(path, mma.d, "D");
  append_lanes(path, lane_of(mma.d), column_of(mma.d), plan.instruction.n / path.parts, plan.tensor_writes);
  plan_a(mma, path, shared_size, plan);
  append_footprint(operand_b(mma, plan.instruction), shared_size, plan.reads);
  plan_scales(mma, path, plan);
  if (mma.accumulate)
    plan.tensor_reads.insert(plan.tensor_reads.end(), plan.tensor_writes.begin(), plan.tensor_writes.end());
  for (const Region& region : plan.tensor_writes) check_inside(region, "D of tcgen05.mma");
  for (const Region& region : plan.tensor_reads) check_inside(region, "an operand of tcgen05.mma");
  return plan;
}

void check_inside(const Region& region, const char* what) {
  if (region.lane + region.lanes <= kTensorLanes && region.column + region.columns <= kTensorColumns) return;
  throw_fault(FaultKind::tensor_memory,
              "{} takes lanes {} to {} and columns {} to {} of tensor memory, which has {} lanes and {} "
              "columns",
              what, region.lane, region.lane + region.lanes - 1, region.column, region.column + region.columns - 1,
              kTensorLanes, kTensorColumns);
}

}  // namespace tma_jit::emulator::matrix
