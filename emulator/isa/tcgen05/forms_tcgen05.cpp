// The tcgen05 family. PTX ISA 9.0, "TensorCore 5th Generation Family Instructions".
#include <charconv>

#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/tcgen05/handlers_tcgen05.h"

namespace tma_jit::emulator::isa {
namespace {

using matrix::MmaKind;
using ptx::Operand;
using ptx::Type;

u32 group_of(const Assembler& a) {
  return a.has("cta_group::2") ? 2 : 1;
}

AddressOperand tensor_address(Assembler& a, std::size_t i) {
  AddressOperand address;
  address.base = a.address(a.operand(i), address.offset);
  return address;
}

void all_lanes(Assembler& a, Handler handler) {
  a.op.handler = handler;
  a.op.convergence = Convergence::all;
  a.op.immediate = group_of(a);
}

void build_alloc(Assembler& a) {
  all_lanes(a, do_tcgen05_alloc);
  a.address(0);
  a.op.b = a.source(1, Type::b32);
}

void build_dealloc(Assembler& a) {
  all_lanes(a, do_tcgen05_dealloc);
  a.op.a = a.source(0, Type::b32);
  a.op.b = a.source(1, Type::b32);
}

void build_relinquish(Assembler& a) {
  all_lanes(a, do_tcgen05_relinquish);
}

matrix::LoadShape load_shape(const Assembler& a) {
  if (a.has("16x64b")) return matrix::LoadShape::m16x64b;
  if (a.has("16x128b")) return matrix::LoadShape::m16x128b;
  if (a.has("16x256b")) return matrix::LoadShape::m16x256b;
  return a.has("16x32bx2") ? matrix::LoadShape::m16x32bx2 : matrix::LoadShape::m32x32b;
}

u32 repeat_of(const Assembler& a) {
  for (u32 n = 1; n <= 128; n *= 2)
    if (a.has("x" + std::to_string(n))) return n;
  return 1;
}

// `registers` and `address` are indices of operands.
void build_move(Assembler& a, std::size_t registers, std::size_t address, bool load) {
  all_lanes(a, load ? do_tcgen05_ld : do_tcgen05_st);
  a.op.writes_list = load;
  auto form = std::make_shared<Tcgen05MoveForm>();
  form->access = {load_shape(a), repeat_of(a), a.has("pack::16b") || a.has("unpack::16b"), 0, 0};
  form->address = tensor_address(a, address);
  if (form->access.shape == matrix::LoadShape::m16x32bx2)
    form->access.half_split = static_cast<u32>(a.immediate(load ? 2 : 1));
  const auto add = [&](const Operand& operand) {
    a.op.list.push_back(load ? a.destination(operand, Type::b32) : a.source(operand, Type::b32));
  };
  const Operand& operand = a.operand(registers);
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand& part : operand.parts) add(part);
  } else {
    add(operand);
  }
  if (a.op.list.size() != matrix::registers_of(form->access))
    a.refuse("{} registers where the shape has {}", a.op.list.size(), matrix::registers_of(form->access));
  a.op.data = std::move(form);
}

void build_load(Assembler& a) {
  build_move(a, 0, 1, true);
}
void build_store(Assembler& a) {
  build_move(a, a.count() - 1, 0, false);
}

void build_wait(Assembler& a) {
  all_lanes(a, do_tcgen05_wait);
  a.op.kind = a.has("wait::st") ? 1 : 0;
}

MmaKind kind_of(const Assembler& a) {
  if (a.has("kind::f16")) return MmaKind::f16;
  if (a.has("kind::tf32")) return MmaKind::tf32;
  if (a.has("kind::f8f6f4")) return MmaKind::f8f6f4;
  if (a.has("kind::i8")) return MmaKind::i8;
  if (a.has("kind::mxf8f6f4")) return MmaKind::mxf8f6f4;
  return a.has("kind::mxf4") ? MmaKind::mxf4 : MmaKind::mxf4nvf4;
}

u32 scale_vector_of(const Assembler& a, MmaKind kind) {
  if (!matrix::is_scaled(kind)) return 0;
  const bool four = a.has("scale_vec::4X") || a.has("block16");
  const bool one = a.has("scale_vec::1X");
  const bool two = a.has("scale_vec::2X");
  if (kind == MmaKind::mxf8f6f4) {
    if (four || two) a.refuse("kind::mxf8f6f4 has one scale factor a row");
    return 1;
  }
  if (one || (four && kind == MmaKind::mxf4)) a.refuse("the kind does not have that many scale factors");
  if (kind == MmaKind::mxf4nvf4 && !four && !two && !a.has("block32"))
    a.refuse("kind::mxf4nvf4 names its scale factors");
  return four ? 4 : 2;
}

// Decodes d, a, b and the instruction descriptor, and returns the form for the remaining operands.
std::shared_ptr<Tcgen05MmaForm> mma_operands(Assembler& a) {
  auto form = std::make_shared<Tcgen05MmaForm>();
  const MmaKind kind = kind_of(a);
  form->form = {kind, group_of(a), a.has("ws"), scale_vector_of(a, kind)};
  form->d = tensor_address(a, 0);
  form->a_in_tensor = a.operand(1).kind == Operand::Kind::address;
  if (form->a_in_tensor) {
    form->tensor_a = tensor_address(a, 1);
  } else {
    form->a = a.source(1, Type::b64);
  }
  form->b = a.source(2, Type::b64);
  form->descriptor = a.source(3, Type::b32);
  a.op.handler = do_tcgen05_mma;
  a.op.data = form;
  return form;
}

void build_mma(Assembler& a) {
  const auto form = mma_operands(a);
  std::size_t next = 4;
  if (a.operand(next).kind == Operand::Kind::vector) {
    for (const Operand& part : a.operand(next).parts) form->disabled_lanes.push_back(a.source(part, Type::b32));
    if (form->disabled_lanes.size() != std::size_t{4} * form->form.cta_group)
      a.refuse("{} words of disabled lanes for {} CTAs", form->disabled_lanes.size(), form->form.cta_group);
    ++next;
  }
  form->accumulate = a.predicate(next);
  if (next + 1 < a.count()) form->scale_input = static_cast<u32>(a.immediate(next + 1));
}

void build_mma_stationary(Assembler& a) {
  const auto form = mma_operands(a);
  form->accumulate = a.predicate(4);
  if (a.count() > 5) form->zero_columns = a.source(5, Type::b64);
}

void build_mma_scaled(Assembler& a) {
  const auto form = mma_operands(a);
  form->a_scales = tensor_address(a, 4);
  form->b_scales = tensor_address(a, 5);
  form->accumulate = a.predicate(6);
}

void build_copy(Assembler& a) {
  using matrix::CopyShape;
  auto form = std::make_shared<Tcgen05CopyForm>();
  form->group = group_of(a);
  form->shape = a.has("4x256b")          ? CopyShape::m4x256b
                : a.has("128x128b")      ? CopyShape::m128x128b
                : a.has("warpx2::02_13") ? CopyShape::m64x128b_02_13
                : a.has("warpx2::01_23") ? CopyShape::m64x128b_01_23
                : a.has("32x128b")       ? CopyShape::m32x128b_warpx4
                                         : CopyShape::m128x256b;
  if (a.has("b4x16_p64")) form->decompression = matrix::Decompression::b4x16_p64;
  if (a.has("b6x16_p32")) form->decompression = matrix::Decompression::b6x16_p32;
  form->address = tensor_address(a, 0);
  form->descriptor = a.source(1, Type::b64);
  a.op.handler = do_tcgen05_cp;
  a.op.data = std::move(form);
}

void build_shift(Assembler& a) {
  a.op.handler = do_tcgen05_shift;
  a.op.immediate = group_of(a);
  a.address(0);
}

void build_commit(Assembler& a) {
  a.op.handler = do_tcgen05_commit;
  a.op.immediate = group_of(a);
  a.address(0);
  if (a.has("multicast::cluster")) a.op.b = a.source(1, Type::b16);
}

void build_fence(Assembler& a) {
  a.op.handler = a.has("fence::before_thread_sync") ? do_tcgen05_fence_before : do_tcgen05_fence_after;
}

#define TMA_JIT_COLLECTOR_A "?collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard"
#define TMA_JIT_COLLECTOR_B                                                                                            \
  "?collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|collector::b1::fill|"         \
  "collector::b1::use|collector::b1::lastuse|collector::b1::discard|collector::b2::fill|collector::b2::use|collector:" \
  ":b2::lastuse|collector::b2::discard|collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::"  \
  "discard"
#define TMA_JIT_REPEATS "x1|x2|x4|x8|x16|x32|x64|x128"

constexpr Needs kNeeds = Needs::tcgen05;
constexpr Form kForms[] = {
    {"tcgen05 alloc cta_group::1|cta_group::2 sync aligned ?shared::cta b32", "as", kNeeds, build_alloc},
    {"tcgen05 dealloc cta_group::1|cta_group::2 sync aligned b32", "ss", kNeeds, build_dealloc},
    {"tcgen05 relinquish_alloc_permit cta_group::1|cta_group::2 sync aligned", "", kNeeds, build_relinquish},
    {"tcgen05 ld sync aligned 32x32b|16x64b|16x128b|16x256b " TMA_JIT_REPEATS " ?pack::16b b32", "va", kNeeds,
     build_load},
    {"tcgen05 ld sync aligned 16x32bx2 " TMA_JIT_REPEATS " ?pack::16b b32", "vai", kNeeds, build_load},
    {"tcgen05 st sync aligned 32x32b|16x64b|16x128b|16x256b " TMA_JIT_REPEATS " ?unpack::16b b32", "av", kNeeds,
     build_store},
    {"tcgen05 st sync aligned 16x32bx2 " TMA_JIT_REPEATS " ?unpack::16b b32", "aiv", kNeeds, build_store},
    {"tcgen05 wait::ld|wait::st sync aligned", "", kNeeds, build_wait},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_A, "asssPi?",
     kNeeds, build_mma},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_A, "aassPi?",
     kNeeds, build_mma},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_A,
     "asssvPi?", kNeeds, build_mma},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_A,
     "aassvPi?", kNeeds, build_mma},
    {"tcgen05 mma ws cta_group::1 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_B, "asssPs?", kNeeds,
     build_mma_stationary},
    {"tcgen05 mma ws cta_group::1 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 " TMA_JIT_COLLECTOR_B, "aassPs?", kNeeds,
     build_mma_stationary},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 block_scale "
     "?scale_vec::1X|scale_vec::2X|scale_vec::4X|block16|block32 " TMA_JIT_COLLECTOR_A,
     "asssaaP", kNeeds, build_mma_scaled},
    {"tcgen05 mma cta_group::1|cta_group::2 kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 block_scale "
     "?scale_vec::1X|scale_vec::2X|scale_vec::4X|block16|block32 " TMA_JIT_COLLECTOR_A,
     "aassaaP", kNeeds, build_mma_scaled},
    {"tcgen05 cp cta_group::1|cta_group::2 128x256b|4x256b|128x128b", "as", kNeeds, build_copy},
    {"tcgen05 cp cta_group::1|cta_group::2 128x256b|4x256b|128x128b b8x16 b6x16_p32|b4x16_p64", "as", kNeeds,
     build_copy},
    {"tcgen05 cp cta_group::1|cta_group::2 64x128b warpx2::02_13|warpx2::01_23", "as", kNeeds, build_copy},
    {"tcgen05 cp cta_group::1|cta_group::2 64x128b warpx2::02_13|warpx2::01_23 b8x16 b6x16_p32|b4x16_p64", "as", kNeeds,
     build_copy},
    {"tcgen05 cp cta_group::1|cta_group::2 32x128b warpx4", "as", kNeeds, build_copy},
    {"tcgen05 cp cta_group::1|cta_group::2 32x128b warpx4 b8x16 b6x16_p32|b4x16_p64", "as", kNeeds, build_copy},
    {"tcgen05 shift cta_group::1|cta_group::2 down", "a", kNeeds, build_shift},
    {"tcgen05 commit cta_group::1|cta_group::2 mbarrier::arrive::one ?shared::cluster b64", "a", kNeeds, build_commit},
    {"tcgen05 commit cta_group::1|cta_group::2 mbarrier::arrive::one ?shared::cluster multicast::cluster b64", "as",
     kNeeds, build_commit},
    {"tcgen05 fence::before_thread_sync|fence::after_thread_sync", "", kNeeds, build_fence},
};

}  // namespace

std::span<const Form> tcgen05_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
