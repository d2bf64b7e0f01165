// Instructions across the lanes of a warp. PTX ISA 9.0, "shfl.sync", "vote.sync", "match.sync", "redux.sync",
// "elect.sync", "activemask", "bar.warp.sync".
#include <map>

#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/warp/handlers_warp.h"
#include "emulator/machine/atomic.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

void members(Assembler& a, std::size_t i) {
  a.op.members = a.source(i, Type::b32);
  a.op.convergence = Convergence::members;
}

// d or d|p
void destinations(Assembler& a, Type type) {
  if (a.operand(0).kind == Operand::Kind::pair) {
    a.op.d = a.destination(a.operand(0).parts[0], type);
    a.op.second = a.destination(a.operand(0).parts[1], Type::pred);
  } else {
    a.op.d = a.destination(0, type);
  }
}

void build_shfl(Assembler& a) {
  a.op.handler = do_shuffle;
  a.op.kind = static_cast<u16>(a.has("up")     ? Shuffle::up
                               : a.has("down") ? Shuffle::down
                               : a.has("bfly") ? Shuffle::butterfly
                                               : Shuffle::index);
  destinations(a, Type::b32);
  a.op.a = a.source(1, Type::b32);
  a.op.b = a.source(2, Type::b32);
  a.op.c = a.source(3, Type::b32);
  members(a, 4);
}

void build_vote(Assembler& a) {
  const bool ballot = a.has("ballot");
  a.op.handler = do_vote;
  a.op.kind = static_cast<u16>(ballot         ? Vote::ballot
                               : a.has("all") ? Vote::all
                               : a.has("any") ? Vote::any
                                              : Vote::uniform);
  a.op.d = a.destination(0, ballot ? Type::b32 : Type::pred);
  a.op.a = a.predicate(1);
  members(a, 2);
}

void build_match(Assembler& a) {
  a.op.handler = do_match;
  a.op.kind = a.has("all") ? 1 : 0;
  destinations(a, Type::b32);
  a.op.a = a.source(1, a.type());
  members(a, 2);
}

void build_redux(Assembler& a) {
  static const std::map<std::string_view, Atomic> kinds = {{"add", Atomic::add},        {"min", Atomic::min},
                                                           {"max", Atomic::max},        {"and", Atomic::conjunction},
                                                           {"or", Atomic::disjunction}, {"xor", Atomic::exclusive}};
  a.op.handler = do_redux;
  a.op.type = a.type();
  for (const auto& [name, kind] : kinds) {
    if (a.has(name)) a.op.kind = static_cast<u16>(kind);
  }
  a.op.d = a.destination(0, a.type());
  a.op.a = a.source(1, a.type());
  members(a, 2);
}

void build_elect(Assembler& a) {
  a.op.handler = do_elect;
  if (a.operand(0).kind != Operand::Kind::pair) a.refuse("the destination is register|predicate");
  destinations(a, Type::b32);
  members(a, 1);
}

void build_active_mask(Assembler& a) {
  a.op.handler = do_active_mask;
  a.op.d = a.destination(0, Type::b32);
}

void build_warp_barrier(Assembler& a) {
  a.op.handler = do_warp_barrier;
  members(a, 0);
}

constexpr Form kForms[] = {
    {"shfl sync up|down|bfly|idx b32", "qssss", Needs::any, build_shfl},
    {"vote sync all|any|uni pred", "pPs", Needs::any, build_vote},
    {"vote sync ballot b32", "dPs", Needs::any, build_vote},
    {"match any sync b32|b64", "dss", Needs::any, build_match},
    {"match all sync b32|b64", "qss", Needs::any, build_match},
    {"redux sync add|min|max u32|s32", "dss", Needs::sm_80, build_redux},
    {"redux sync and|or|xor b32", "dss", Needs::sm_80, build_redux},
    {"elect sync", "qs", Needs::sm_90, build_elect},
    {"activemask b32", "d", Needs::any, build_active_mask},
    {"bar warp sync", "s", Needs::any, build_warp_barrier},
};

}  // namespace

std::span<const Form> warp_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
