// Modification of tensor maps by kernels. PTX ISA 9.0, "tensormap.replace", "tensormap.cp_fenceproxy",
// "fence.proxy.tensormap".
#include <array>
#include <utility>

#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/tensormap/handlers_tensormap.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Type;
using tensor::Field;

constexpr std::array<std::pair<std::string_view, Field>, 11> kFields = {{
    {"global_address", Field::global_address},
    {"rank", Field::rank},
    {"box_dim", Field::box_dim},
    {"global_dim", Field::global_dim},
    {"global_stride", Field::global_stride},
    {"element_stride", Field::element_stride},
    {"elemtype", Field::elemtype},
    {"interleave_layout", Field::interleave_layout},
    {"swizzle_mode", Field::swizzle_mode},
    {"swizzle_atomicity", Field::swizzle_atomicity},
    {"fill_mode", Field::fill_mode},
}};

void build_replace(Assembler& a) {
  a.op.handler = do_tensormap_replace;
  a.op.space = a.space();
  for (const auto& [name, field] : kFields)
    if (a.has(name)) a.op.kind = static_cast<u16>(field);
  if (a.has("swizzle_atomicity") && !a.target_has(Needs::sm_100))
    a.refuse(".swizzle_atomicity needs {}", description_of(Needs::sm_100));
  const auto field = static_cast<Field>(a.op.kind);
  const bool coded = field == Field::elemtype || field == Field::interleave_layout || field == Field::swizzle_mode ||
                     field == Field::swizzle_atomicity || field == Field::fill_mode;
  if (coded && a.operand(1).kind != ptx::Operand::Kind::integer) a.refuse("a constant is expected");
  a.address(0);
  const bool has_ordinal = a.count() == 3;
  if (has_ordinal) a.op.immediate = a.immediate(1);
  a.op.b = a.source(a.count() - 1, a.has("b64") ? Type::b64 : Type::b32);
}

void build_copy(Assembler& a) {
  a.op.handler = do_tensormap_copy;
  a.op.convergence = Convergence::all;
  a.address(0);
  s64 offset = 0;
  a.op.b = a.address(a.operand(1), offset);
  a.op.immediate = static_cast<u64>(offset);
  if (a.immediate(2) != sizeof(tensor::TensorMap)) a.refuse("a tensor map has 128 bytes, not {}", a.immediate(2));
}

void build_release(Assembler& a) {
  a.op.handler = do_tensormap_release;
}

void build_acquire(Assembler& a) {
  if (a.immediate(1) != 128) a.refuse("a tensor map has 128 bytes, not {}", a.immediate(1));
  a.op.handler = do_tensormap_acquire;
  a.address(0);
}

constexpr Form kForms[] = {
    {"tensormap replace tile global_address ?global|shared::cta b1024 b64", "as", Needs::exact_90, build_replace},
    {"tensormap replace tile rank ?global|shared::cta b1024 b32", "as", Needs::exact_90, build_replace},
    {"tensormap replace tile box_dim|global_dim|element_stride ?global|shared::cta b1024 b32", "ais", Needs::exact_90,
     build_replace},
    {"tensormap replace tile global_stride ?global|shared::cta b1024 b64", "ais", Needs::exact_90, build_replace},
    {"tensormap replace tile elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode ?global|shared::cta "
     "b1024 b32",
     "as", Needs::exact_90, build_replace},
    {"fence proxy tensormap::generic release cta|cluster|gpu|sys", "", Needs::sm_90, build_release},
    {"fence proxy tensormap::generic acquire cta|cluster|gpu|sys", "ai", Needs::sm_90, build_acquire},
    {"tensormap cp_fenceproxy global shared::cta tensormap::generic release cta|cluster|gpu|sys sync aligned", "aai",
     Needs::sm_90, build_copy},
};

}  // namespace

std::span<const Form> tensormap_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
