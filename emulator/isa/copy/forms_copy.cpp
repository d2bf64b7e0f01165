// Bulk and tensor copies. PTX ISA 9.0, "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch", "prefetch.tensormap".
#include <map>

#include "emulator/decode/assembler.h"
#include "emulator/isa/copy/handlers_copy.h"
#include "emulator/isa/families.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

AddressOperand address_operand(Assembler& a, const Operand& operand) {
  AddressOperand address;
  address.base = a.address(operand, address.offset);
  return address;
}

std::size_t rank_of(const Assembler& a) {
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    if (a.has(fmt::format("{}d", rank))) return rank;
  }
  a.refuse("no number of dimensions");
}

// [map, {coordinates}]
void take_map(Assembler& a, CopyForm& form, const Operand& operand) {
  form.map = address_operand(a, operand);
  if (operand.parts.size() != 2 || operand.parts[1].kind != Operand::Kind::vector)
    a.refuse("[map, {{coordinates}}] was expected");
  for (const Operand& coordinate : operand.parts[1].parts) form.coordinates.push_back(a.source(coordinate, Type::b32));
  const bool gather = form.mode == tensor::Mode::gather4 || form.mode == tensor::Mode::scatter4;
  const std::size_t wanted = gather ? 5 : rank_of(a);
  if (form.coordinates.size() != wanted) a.refuse("{} coordinates; it takes {}", form.coordinates.size(), wanted);
}

void take_modes(const Assembler& a, CopyForm& form) {
  using tensor::Mode;
  static const std::map<std::string_view, Mode> modes = {
      {"tile::gather4", Mode::gather4}, {"tile::scatter4", Mode::scatter4},
      {"im2col", Mode::im2col},         {"im2col_no_offs", Mode::im2col_no_offsets},
      {"im2col::w", Mode::im2col_w},    {"im2col::w::128", Mode::im2col_w128}};
  for (const auto& [name, mode] : modes) {
    if (a.has(name)) form.mode = mode;
  }
}

bool has_offsets(const CopyForm& form) {
  return form.mode == tensor::Mode::im2col || form.mode == tensor::Mode::im2col_w ||
         form.mode == tensor::Mode::im2col_w128;
}

// Decodes the optional operands after the fixed ones: im2col offsets, multicast mask and cache policy.
void take_rest(Assembler& a, CopyForm& form, std::size_t next) {
  if (has_offsets(form)) {
    if (next >= a.count() || a.operand(next).kind != Operand::Kind::vector) a.refuse("the im2col offsets are missing");
    for (const Operand& offset : a.operand(next++).parts) form.offsets.push_back(a.source(offset, Type::b16));
  }
  if (a.has("multicast::cluster")) {
    if (next >= a.count()) a.refuse("the multicast mask is missing");
    form.multicast = a.source(next++, Type::b16);
  }
  if (a.has("L2::cache_hint")) {
    if (next >= a.count()) a.refuse("the cache policy is missing");
    a.source(next++, Type::b64);
  }
  if (a.has("cp_mask")) {
    if (next >= a.count()) a.refuse("the byte mask is missing");
    form.byte_mask = a.source(next++, Type::b16);
  }
  if (next != a.count()) a.refuse("{} operands too many", a.count() - next);
}

void finish(Assembler& a, std::shared_ptr<CopyForm> form) {
  a.op.handler = do_copy;
  a.op.data = std::move(form);
}

// [tile], [map, {c}], [barrier], optional operands
void build_tensor_load(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->tensor = true;
  form->pairs = a.has("cta_group::2");
  take_modes(a, *form);
  form->destination = address_operand(a, a.operand(0));
  take_map(a, *form, a.operand(1));
  form->barrier = address_operand(a, a.operand(2));
  take_rest(a, *form, 3);
  finish(a, std::move(form));
}

// Bit types are reduced as unsigned integers of the same width.
numeric::Format format_of(const Assembler& a) {
  const Type type = a.type();
  const std::string_view name = type == Type::b32 ? "u32" : type == Type::b64 ? "u64" : ptx::name_of(type);
  for (int i = 0; i <= static_cast<int>(numeric::Format::f64); ++i) {
    if (numeric::name_of(static_cast<numeric::Format>(i)) == name) return static_cast<numeric::Format>(i);
  }
  a.refuse("no reduction of .{}", name);
}

void take_reduction(const Assembler& a, CopyForm& form) {
  using tensor::Reduction;
  static const std::map<std::string_view, Reduction> kinds = {
      {"add", Reduction::add},       {"min", Reduction::min},        {"max", Reduction::max},
      {"inc", Reduction::inc},       {"dec", Reduction::dec},        {"and", Reduction::bitwise_and},
      {"or", Reduction::bitwise_or}, {"xor", Reduction::bitwise_xor}};
  form.reduces = true;
  for (const auto& [name, kind] : kinds) {
    if (a.has(name)) form.reduction = kind;
  }
}

// [map, {c}], [tile], optional operands
void build_tensor_store(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->tensor = true;
  form->grouped = true;
  form->route = CopyForm::Route::shared_to_global;
  take_modes(a, *form);
  take_map(a, *form, a.operand(0));
  form->source = address_operand(a, a.operand(1));
  if (a.instruction().modifiers[1] == "reduce") take_reduction(a, *form);
  take_rest(a, *form, 2);
  finish(a, std::move(form));
}

void build_tensor_prefetch(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->tensor = true;
  form->route = CopyForm::Route::prefetch;
  take_modes(a, *form);
  take_map(a, *form, a.operand(0));
  take_rest(a, *form, 1);
  finish(a, std::move(form));
}

// [shared], [global or shared::cta], size, [barrier], optional operands
void build_bulk_load(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->route = a.has("global") ? CopyForm::Route::global_to_shared : CopyForm::Route::shared_to_shared;
  form->destination = address_operand(a, a.operand(0));
  form->source = address_operand(a, a.operand(1));
  form->size = a.source(2, Type::b32);
  form->barrier = address_operand(a, a.operand(3));
  if (a.instruction().modifiers[1] == "reduce") {
    take_reduction(a, *form);
    form->format = format_of(a);
  }
  take_rest(a, *form, 4);
  finish(a, std::move(form));
}

// [global], [shared], size, optional operands
void build_bulk_store(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->route = CopyForm::Route::shared_to_global;
  form->grouped = true;
  form->destination = address_operand(a, a.operand(0));
  form->source = address_operand(a, a.operand(1));
  form->size = a.source(2, Type::b32);
  if (a.instruction().modifiers[1] == "reduce") {
    take_reduction(a, *form);
    form->format = format_of(a);
  }
  take_rest(a, *form, 3);
  finish(a, std::move(form));
}

void build_bulk_prefetch(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->route = CopyForm::Route::prefetch;
  form->source = address_operand(a, a.operand(0));
  form->size = a.source(1, Type::b32);
  take_rest(a, *form, 2);
  finish(a, std::move(form));
}

void build_commit(Assembler& a) {
  a.op.handler = do_bulk_commit;
}

void build_wait(Assembler& a) {
  a.op.handler = do_bulk_wait;
  a.op.immediate = a.immediate(0);
  a.op.kind = a.has("read") ? 1 : 0;
}

void build_prefetch_map(Assembler& a) {
  auto form = std::make_shared<CopyForm>();
  form->map = address_operand(a, a.operand(0));
  form->route = CopyForm::Route::prefetch;
  a.op.data = std::move(form);
  a.op.handler = do_prefetch_map;
}

using enum Rule::Kind;
constexpr Rule kSharedReductions[] = {
    {"add", needs, "u32|s32|u64"},
    {"min|max", needs, "u32|s32"},
    {"inc|dec", needs, "u32"},
    {"and|or|xor", needs, "b32"},
};

constexpr Form kForms[] = {
    {"cp async bulk tensor 1d|2d|3d|4d|5d shared::cta global ?tile|im2col|im2col::w|im2col::w::128|tile::gather4 "
     "mbarrier::complete_tx::bytes "
     "?L2::cache_hint",
     "aaa*", Needs::sm_90, build_tensor_load},
    {"cp async bulk tensor 1d|2d|3d|4d|5d shared::cluster global ?tile|im2col|tile::gather4 "
     "mbarrier::complete_tx::bytes "
     "?multicast::cluster ?cta_group::1|cta_group::2 ?L2::cache_hint",
     "aaa*", Needs::sm_90, build_tensor_load},
    {"cp async bulk tensor 1d|2d|3d|4d|5d global shared::cta ?tile|im2col_no_offs|tile::scatter4 bulk_group "
     "?L2::cache_hint",
     "aa*", Needs::sm_90, build_tensor_store},
    {"cp reduce async bulk tensor 1d|2d|3d|4d|5d global shared::cta add|min|max|inc|dec|and|or|xor "
     "?tile|im2col_no_offs bulk_group "
     "?L2::cache_hint",
     "aa*", Needs::sm_90, build_tensor_store},
    {"cp async bulk prefetch tensor 1d|2d|3d|4d|5d L2 global ?tile|im2col|im2col::w|im2col::w::128|tile::gather4 "
     "?L2::cache_hint",
     "a*", Needs::sm_90, build_tensor_prefetch},
    {"cp async bulk shared::cta|shared::cluster global mbarrier::complete_tx::bytes ?multicast::cluster "
     "?L2::cache_hint",
     "aasa*", Needs::sm_90, build_bulk_load},
    {"cp async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes", "aasa", Needs::sm_90, build_bulk_load},
    {"cp async bulk global shared::cta bulk_group ?L2::cache_hint ?cp_mask", "aas*", Needs::sm_90, build_bulk_store},
    {"cp reduce async bulk global shared::cta bulk_group ?L2::cache_hint add|min|max|inc|dec|and|or|xor ?noftz "
     "f16|bf16|b32|u32|s32|b64|u64|s64|f32|f64",
     "aas*", Needs::sm_90, build_bulk_store},
    {"cp reduce async bulk shared::cluster shared::cta mbarrier::complete_tx::bytes add|min|max|inc|dec|and|or|xor "
     "b32|u32|s32|u64",
     "aasa", Needs::sm_90, build_bulk_load, kSharedReductions},
    {"cp async bulk prefetch L2 global ?L2::cache_hint", "as*", Needs::sm_90, build_bulk_prefetch},
    {"cp async bulk commit_group", "", Needs::sm_90, build_commit},
    {"cp async bulk wait_group ?read", "i", Needs::sm_90, build_wait},
    {"prefetch tensormap", "a", Needs::sm_90, build_prefetch_map},
    {"prefetch ?const|param tensormap", "a", Needs::sm_90, build_prefetch_map},
};

}  // namespace

std::span<const Form> copy_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
