#include "emulator/isa/matrix/handlers_matrix.h"

#include <algorithm>
#include <array>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator::isa {
namespace {

// Pointers to registers for the functions of matrix/. Sources are not written.
class RegisterPointers {
 public:
  RegisterPointers(Warp& warp, const std::vector<RegisterRef>& refs) : count_(refs.size()) {
    for (std::size_t i = 0; i < count_; ++i) pointers_.at(i) = const_cast<u8*>(warp.values<u8>(refs[i]));
  }
  matrix::Registers registers() const { return {pointers_.data(), count_}; }

 private:
  std::array<u8*, 16> pointers_;  // no instruction here has more
  std::size_t count_;
};

// Returns the 16 bytes that each lane's address names, checked as a write or a read. Lanes whose address is not used
// get the row of another lane.
matrix::MatrixRows rows_of(Warp& warp, const Op& op, const matrix::MatrixMove& move, bool write) {
  constexpr u32 kRow = 16;
  const u32 lanes = matrix::address_lanes(move), bytes = matrix::row_bytes(move);
  matrix::MatrixRows rows{};
  Machine& machine = warp.machine();
  check::Access access{
      write, {warp.clock.id, check::kManyLanes, 0, warp.clock.now(), &op}, &warp.clock.clocks, op.source->modifiers[0]};
  for (u32 i = 0; i < lanes; ++i) {
    const auto lane = static_cast<int>(i);
    const u64 address = warp.address(op, op.a, lane);
    if (op.space == ptx::Space::generic && !is_shared(address)) {
      throw_fault(FaultKind::bounds, "a matrix row at {:#x}, which is not in shared memory", address);
    }
    if (address % kRow != 0)
      throw_fault(FaultKind::alignment, "a matrix row at {:#x}, not a multiple of {}", address, kRow);
    const SharedSpan span = machine.shared(warp.block(), static_cast<u32>(address), kRow);
    if (write) access.stamp.lane = static_cast<u8>(i);
    machine.record_shared(span, bytes, access);
    if (write) machine.check_mbarrier_store(span, bytes);
    rows[i] = span.bytes;
  }
  return rows;
}

}  // namespace

std::vector<RegisterRef> MmaForm::reads() const {
  std::vector<RegisterRef> refs = {a_scales, b_scales};
  for (const auto* operand : {&a, &b, &c}) refs.insert(refs.end(), operand->begin(), operand->end());
  return refs;
}

Step do_mma(Warp& warp, const Op& op, Mask) {
  const auto& form = static_cast<const MmaForm&>(*op.data);
  const RegisterPointers d(warp, form.d), a(warp, form.a), b(warp, form.b), c(warp, form.c);
  matrix::MmaRegisters registers{d.registers(), a.registers(), b.registers(), c.registers()};
  if (form.a_scales) registers.a_scales = warp.values<u8>(form.a_scales);
  if (form.b_scales) registers.b_scales = warp.values<u8>(form.b_scales);
  matrix::execute(form.instruction, registers);
  return Step::next;
}

Step do_load_matrix(Warp& warp, const Op& op, Mask) {
  const auto& form = static_cast<const MatrixMoveForm&>(*op.data);
  const matrix::MatrixRows rows = rows_of(warp, op, form.move, false);
  matrix::load_matrix(form.move, rows, RegisterPointers(warp, op.list).registers());
  return Step::next;
}

Step do_store_matrix(Warp& warp, const Op& op, Mask) {
  const auto& form = static_cast<const MatrixMoveForm&>(*op.data);
  const matrix::MatrixRows rows = rows_of(warp, op, form.move, true);
  matrix::store_matrix(form.move, rows, RegisterPointers(warp, op.list).registers());
  warp.machine().progress();
  return Step::next;
}

Step do_transpose_matrix(Warp& warp, const Op& op, Mask active) {
  u32 result[kLanes];
  matrix::transpose_matrix(reinterpret_cast<u8*>(result), warp.values<u8>(op.a));
  warp.set(op.d, active, result);
  return Step::next;
}

}  // namespace tma_jit::emulator::isa
