// mma.sync, ldmatrix, stmatrix, movmatrix and wgmma. PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate
// Instructions", "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#include <charconv>
#include <optional>

#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/matrix/handlers_matrix.h"
#include "emulator/isa/matrix/handlers_wgmma.h"
#include "emulator/machine/wgmma_operation.h"

namespace tma_jit::emulator::isa {
namespace {

using numeric::Format;
using ptx::Operand;
using ptx::Type;

std::optional<Format> format_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Format::f64); ++i) {
    if (numeric::name_of(static_cast<Format>(i)) == name) return static_cast<Format>(i);
  }
  return std::nullopt;
}

// Returns the element formats in source order: D, A, B, C, then that of the scales.
std::vector<Format> formats_of(const Assembler& a) {
  std::vector<Format> formats;
  for (const std::string_view modifier : a.instruction().modifiers) {
    if (const auto format = format_named(modifier)) formats.push_back(*format);
  }
  return formats;
}

// The extents in a shape such as "m64n128k16".
struct Extents {
  u32 m = 0, n = 0, k = 0;
};
Extents extents_of(const Assembler& a) {
  for (const std::string_view modifier : a.instruction().modifiers) {
    const std::size_t n = modifier.find('n'), k = modifier.find('k');
    if (modifier[0] != 'm' || n == std::string_view::npos || k == std::string_view::npos) continue;
    Extents extents;
    std::from_chars(modifier.data() + 1, modifier.data() + n, extents.m);
    std::from_chars(modifier.data() + n + 1, modifier.data() + k, extents.n);
    std::from_chars(modifier.data() + k + 1, modifier.data() + modifier.size(), extents.k);
    if (extents.m != 0 && extents.n != 0 && extents.k != 0) return extents;
  }
  a.refuse("no shape");
}

std::vector<RegisterRef> registers(Assembler& a, std::size_t i, bool destination, std::size_t count, Type type) {
  const Operand& operand = a.operand(i);
  std::vector<RegisterRef> refs;
  const auto add = [&](const Operand& element) {
    refs.push_back(destination ? a.destination(element, type) : a.source(element, type));
  };
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand& element : operand.parts) add(element);
  } else {
    add(operand);
  }
  if (refs.size() != count) a.refuse("operand {} has {} registers; it takes {}", i, refs.size(), count);
  for (const RegisterRef& reg : refs) {
    if (!reg) a.refuse("operand {} has no register", i);
  }
  return refs;
}

void take_scales(Assembler& a, MmaForm& form) {
  matrix::MmaSync& mma = form.instruction;
  mma.scales = a.has("scale_vec::4X")                                                     ? 4
               : a.has("scale_vec::2X") || a.has("kind::mxf4nvf4") || a.has("kind::mxf4") ? 2
                                                                                          : 1;
  if (a.count() != 8) a.refuse("block scaling takes two scale operands and where each is");
  const auto selector = [&](std::size_t i, u32& byte, u32& thread) {
    const Operand& operand = a.operand(i);
    if (operand.kind != Operand::Kind::vector || operand.parts.size() != 2 ||
        operand.parts[0].kind != Operand::Kind::integer || operand.parts[1].kind != Operand::Kind::integer) {
      a.refuse("operand {} must be {{byte, thread}} of constants", i);
    }
    byte = static_cast<u32>(operand.parts[0].bits);
    thread = static_cast<u32>(operand.parts[1].bits);
  };
  // A 32-bit register, alone or as a vector of one.
  const auto word = [&](std::size_t i) {
    const Operand& operand = a.operand(i);
    const bool vector = operand.kind == Operand::Kind::vector && operand.parts.size() == 1;
    return a.source(vector ? operand.parts[0] : operand, Type::b32);
  };
  form.a_scales = word(4);
  selector(5, mma.a_byte, mma.a_thread);
  form.b_scales = word(6);
  selector(7, mma.b_byte, mma.b_thread);
}

void build_mma(Assembler& a) {
  auto form = std::make_shared<MmaForm>();
  const Extents extents = extents_of(a);
  const std::vector<Format> formats = formats_of(a);
  if (formats.size() < 4) a.refuse("four element types are needed");
  matrix::MmaSync& mma = form->instruction;
  mma.m = extents.m;
  mma.n = extents.n;
  mma.k = extents.k;
  mma.d_format = formats[0];
  mma.a_format = formats[1];
  mma.b_format = formats[2];
  mma.c_format = formats[3];
  const bool small = numeric::bits_of(mma.a_format) == 4;
  mma.packed = small && (mma.k == 64 || mma.a_format == Format::s4 || mma.a_format == Format::u4);
  mma.saturate = a.has("satfinite");
  mma.widened =
      numeric::is_float(mma.a_format) && numeric::bits_of(mma.a_format) == 8 && !a.target_has(Needs::block_scaling);
  if (a.has("popc")) mma.bits = a.has("and") ? matrix::MmaSync::Bits::and_count : matrix::MmaSync::Bits::xor_count;
  if (a.has("block_scale")) {
    if (formats.size() < 5) a.refuse("the type of the scales is missing");
    mma.scale_format = formats[4];
    take_scales(a, *form);
  } else if (a.count() != 4) {
    a.refuse("{} operands; it takes 4", a.count());
  }
  const matrix::MmaCounts counts = matrix::counts_of(mma);
  const bool wide = mma.a_format == Format::f64;
  const Type type = wide ? Type::b64 : Type::b32;
  form->d = registers(a, 0, true, counts.d, type);
  form->a = registers(a, 1, false, counts.a, type);
  form->b = registers(a, 2, false, counts.b, type);
  form->c = registers(a, 3, false, counts.c, type);
  a.op.handler = do_mma;
  a.op.convergence = Convergence::all;
  a.op.data = std::move(form);
}

void build_matrix_move(Assembler& a) {
  auto form = std::make_shared<MatrixMoveForm>();
  matrix::MatrixMove& move = form->move;
  const bool load = a.mnemonic() == "ldmatrix";
  move.count = a.has("x4") ? 4 : a.has("x2") ? 2 : 1;
  move.transposed = a.has("trans");
  move.shape = a.has("m16n16")  ? matrix::Shape::m16n16_b8
               : a.has("m8n16") ? matrix::Shape::m8n16_b8
               : a.has("m16n8") ? matrix::Shape::m16n8_b8
                                : matrix::Shape::m8n8_b16;
  if (a.has("b4x16_p64")) move.source = matrix::Source::b4x16_p64;
  if (a.has("b6x16_p32")) move.source = matrix::Source::b6x16_p32;
  a.op.handler = load ? do_load_matrix : do_store_matrix;
  a.op.writes_list = load;
  a.op.convergence = Convergence::all;
  a.op.space = a.space();
  a.address(load ? 1 : 0);
  a.op.list = registers(a, load ? 0 : 1, load, matrix::registers_of(move), Type::b32);
  a.op.data = std::move(form);
}

void build_transpose(Assembler& a) {
  a.op.handler = do_transpose_matrix;
  a.op.convergence = Convergence::all;
  a.op.d = a.destination(0, Type::b32);
  a.op.a = a.source(1, Type::b32);
}

bool one_of(u64 value, u64 x, u64 y) {
  return value == x || value == y;
}

// Decodes the immediates after scale-d: the signs of A and B, then, for each of them in shared memory, whether it is
// MN-major.
void take_constants(Assembler& a, matrix::Wgmma& wgmma, std::size_t next) {
  const bool integer = wgmma.accumulator == Format::s32;
  const bool transposable = wgmma.a_format == Format::f16 || wgmma.a_format == Format::bf16;
  const auto constant = [&](u64 x, u64 y) {
    if (next >= a.count() || a.operand(next).kind != Operand::Kind::integer || !one_of(a.immediate(next), x, y)) {
      a.refuse("operand {} must be the constant {} or {}", next, static_cast<s64>(x), static_cast<s64>(y));
    }
    return a.immediate(next++) == y;
  };
  if (!integer) {
    wgmma.negate_a = constant(1, ~u64{0});
    wgmma.negate_b = constant(1, ~u64{0});
    if (transposable && !wgmma.a_in_registers) wgmma.a_major = constant(0, 1) ? matrix::Major::mn : matrix::Major::k;
    if (transposable) wgmma.b_major = constant(0, 1) ? matrix::Major::mn : matrix::Major::k;
  }
  if (next != a.count()) a.refuse("{} operands too many", a.count() - next);
}

void build_wgmma(Assembler& a) {
  auto form = std::make_shared<WgmmaForm>();
  const Extents extents = extents_of(a);
  const std::vector<Format> formats = formats_of(a);
  if (formats.size() != 3 || extents.m != 64) a.refuse("three element types and m64 are needed");
  matrix::Wgmma& wgmma = form->instruction;
  wgmma.n = extents.n;
  wgmma.accumulator = formats[0];
  wgmma.a_format = formats[1];
  wgmma.b_format = formats[2];
  wgmma.saturate = a.has("satfinite");
  if (extents.n % 8 != 0 || extents.n == 0 || extents.n > 256)
    a.refuse("n{}; it takes multiples of 8 to 256", extents.n);
  if (extents.k != matrix::depth_of(wgmma)) a.refuse("k{}; these types take k{}", extents.k, matrix::depth_of(wgmma));
  wgmma.a_in_registers = a.operand(1).kind == Operand::Kind::vector;
  form->d = registers(a, 0, true, matrix::accumulator_registers(wgmma), Type::b32);
  if (wgmma.a_in_registers) {
    form->a = registers(a, 1, false, 4, Type::b32);
  } else {
    form->a_descriptor = a.source(1, Type::b64);
  }
  form->b_descriptor = a.source(2, Type::b64);
  form->accumulate = a.predicate(3);
  take_constants(a, wgmma, 4);
  a.op.handler = do_wgmma;
  a.op.convergence = Convergence::all;
  a.op.touches_in_flight = true;
  a.op.data = std::move(form);
}

void build_wgmma_fence(Assembler& a) {
  a.op.handler = do_wgmma_fence;
  a.op.convergence = Convergence::all;
}
void build_wgmma_commit(Assembler& a) {
  a.op.handler = do_wgmma_commit;
  a.op.convergence = Convergence::all;
}
void build_wgmma_wait(Assembler& a) {
  a.op.handler = do_wgmma_wait;
  a.op.convergence = Convergence::all;
  a.op.immediate = a.immediate(0);
}

#define EIGHTS_64(K)                                                                                                   \
  "m64n8" K "|m64n16" K "|m64n24" K "|m64n32" K "|m64n40" K "|m64n48" K "|m64n56" K "|m64n64" K "|m64n72" K            \
  "|m64n80" K "|m64n88" K "|m64n96" K "|m64n104" K "|m64n112" K "|m64n120" K "|m64n128" K "|m64n136" K "|m64n144" K    \
  "|m64n152" K "|m64n160" K "|m64n168" K "|m64n176" K "|m64n184" K "|m64n192" K "|m64n200" K "|m64n208" K "|m64n216" K \
  "|m64n224" K "|m64n232" K "|m64n240" K "|m64n248" K "|m64n256" K

constexpr Form kForms[] = {
    {"mma sync aligned m16n8k8|m16n8k16 row col f16|f32 f16|bf16 f16|bf16 f16|f32", "vvvv", Needs::sm_80, build_mma},
    {"mma sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", "vvvv", Needs::sm_80, build_mma},
    {"mma sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col f64 f64 f64 f64", "vvvv", Needs::sm_80, build_mma},
    {"mma sync aligned m8n8k16|m16n8k16|m16n8k32 row col ?satfinite s32 s8|u8 s8|u8 s32", "vvvv", Needs::sm_80,
     build_mma},
    {"mma sync aligned m8n8k32|m16n8k32|m16n8k64 row col ?satfinite s32 s4|u4 s4|u4 s32", "vvvv", Needs::sm_80,
     build_mma},
    {"mma sync aligned m8n8k128|m16n8k128|m16n8k256 row col s32 b1 b1 s32 xor|and popc", "vvvv", Needs::sm_80,
     build_mma},
    {"mma sync aligned m16n8k16|m16n8k32 row col f16|f32 e4m3|e5m2 e4m3|e5m2 f16|f32", "vvvv", Needs::sm_80, build_mma},
    {"mma sync aligned m16n8k32 row col kind::f8f6f4 f16|f32 e4m3|e5m2|e3m2|e2m3|e2m1 e4m3|e5m2|e3m2|e2m3|e2m1 f16|f32",
     "vvvv", Needs::block_scaling, build_mma},
    {"mma sync aligned m16n8k32 row col kind::mxf8f6f4 block_scale ?scale_vec::1X f32 e4m3|e5m2|e3m2|e2m3|e2m1 "
     "e4m3|e5m2|e3m2|e2m3|e2m1 f32 ue8m0",
     "vvvv*", Needs::block_scaling, build_mma},
    {"mma sync aligned m16n8k64 row col kind::mxf4 block_scale ?scale_vec::2X f32 e2m1 e2m1 f32 ue8m0", "vvvv*",
     Needs::block_scaling, build_mma},
    {"mma sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale scale_vec::2X|scale_vec::4X f32 e2m1 e2m1 f32 "
     "ue8m0|ue4m3",
     "vvvv*", Needs::block_scaling, build_mma},
    {"ldmatrix sync aligned m8n8 x1|x2|x4 ?trans ?shared|shared::cta b16", "va", Needs::any, build_matrix_move},
    {"ldmatrix sync aligned m16n16 x1|x2 trans ?shared|shared::cta b8", "va", Needs::sm_100, build_matrix_move},
    {"ldmatrix sync aligned m16n16 x1|x2 trans ?shared|shared::cta b8x16 b4x16_p64|b6x16_p32", "va", Needs::sm_100,
     build_matrix_move},
    {"ldmatrix sync aligned m8n16 x1|x2|x4 ?shared|shared::cta b8x16 b4x16_p64|b6x16_p32", "va", Needs::sm_100,
     build_matrix_move},
    {"stmatrix sync aligned m8n8 x1|x2|x4 ?trans ?shared|shared::cta b16", "av", Needs::sm_90, build_matrix_move},
    {"stmatrix sync aligned m16n8 x1|x2|x4 trans ?shared|shared::cta b8", "av", Needs::sm_100, build_matrix_move},
    {"movmatrix sync aligned m8n8 trans b16", "ds", Needs::any, build_transpose},
    {"wgmma fence sync aligned", "", Needs::wgmma, build_wgmma_fence},
    {"wgmma commit_group sync aligned", "", Needs::wgmma, build_wgmma_commit},
    {"wgmma wait_group sync aligned", "i", Needs::wgmma, build_wgmma_wait},
    {"wgmma mma_async sync aligned " EIGHTS_64("k16") " f16|f32 f16|bf16 f16|bf16", "vvs*", Needs::wgmma, build_wgmma},
    {"wgmma mma_async sync aligned " EIGHTS_64("k8") " f32 tf32 tf32", "vvs*", Needs::wgmma, build_wgmma},
    {"wgmma mma_async sync aligned " EIGHTS_64("k32") " f16|f32 e4m3|e5m2 e4m3|e5m2", "vvs*", Needs::wgmma,
     build_wgmma},
    {"wgmma mma_async sync aligned " EIGHTS_64("k32") " ?satfinite s32 s8|u8 s8|u8", "vvs*", Needs::wgmma, build_wgmma},
};

}  // namespace

std::span<const Form> matrix_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
