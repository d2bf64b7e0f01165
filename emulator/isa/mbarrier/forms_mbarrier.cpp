// mbarrier and the proxy fences. PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier",
// "membar / fence".
#include "emulator/decode/assembler.h"
#include "emulator/isa/families.h"
#include "emulator/isa/mbarrier/handlers_mbarrier.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::isa {
namespace {

using ptx::Operand;
using ptx::Type;

void build_init(Assembler& a) {
  a.op.handler = do_mbarrier_init;
  a.op.space = a.space();
  a.address(0);
  a.op.b = a.source(1, Type::u32);
}

void build_inval(Assembler& a) {
  a.op.handler = do_mbarrier_inval;
  a.op.space = a.space();
  a.address(0);
}

// [state,] [address] [, count or bytes]
void build_arrive(Assembler& a) {
  auto form = std::make_shared<MbarrierForm>();
  form->relaxed = a.has("relaxed");
  form->drops = a.has("arrive_drop");
  form->expects = a.has("expect_tx");
  form->arrives = a.has("arrive") || form->drops;
  const bool state = a.operand(0).kind != Operand::Kind::address;
  const std::size_t at = state ? 1 : 0;
  if (state && a.count() == at) a.refuse("an address is missing");
  if (state && a.has("shared::cluster") && a.operand(0).kind != Operand::Kind::sink)
    a.refuse("an arrival in another block returns no state; its destination is _");
  a.op.handler = do_mbarrier_arrive;
  a.op.space = a.space();
  if (state) a.op.d = a.destination(0, Type::b64);
  a.address(at);
  const bool more = a.count() > at + 1;
  if (form->expects && !more) a.refuse("the bytes to expect are missing");
  if (a.has("noComplete") && !more) a.refuse("the count of arrivals is missing");
  if (more && !form->expects && !a.has("noComplete") && !a.target_has(Needs::sm_90))
    a.refuse("a count without .noComplete needs {}", description_of(Needs::sm_90));
  if (form->expects && form->arrives && a.instruction().modifiers[2] != "expect_tx")
    a.refuse(".expect_tx follows .arrive or .arrive_drop");
  if (more) (form->expects ? a.op.c : a.op.b) = a.source(at + 1, Type::u32);
  a.op.data = std::move(form);
}

void build_complete(Assembler& a) {
  a.op.handler = do_mbarrier_complete_tx;
  a.op.space = a.space();
  a.address(0);
  a.op.c = a.source(1, Type::u32);
}

void build_wait(Assembler& a) {
  auto form = std::make_shared<MbarrierForm>();
  form->relaxed = a.has("relaxed");
  form->parity = a.has("parity");
  form->suspends = a.has("try_wait");
  a.op.handler = do_mbarrier_wait;
  a.op.space = a.space();
  a.op.d = a.predicate_destination(0);
  a.address(1);
  a.op.b = a.source(2, form->parity ? Type::u32 : Type::b64);
  a.op.data = std::move(form);
}

void build_pending(Assembler& a) {
  a.op.handler = do_mbarrier_pending;
  a.op.d = a.destination(0, Type::u32);
  a.op.a = a.source(1, Type::b64);
}

void build_fence_proxy(Assembler& a) {
  const bool all = !a.has("shared::cta") && !a.has("shared::cluster") && !a.has("global") && !a.has("async::generic");
  a.op.kind = static_cast<u16>(all ? ProxyFence::all : a.has("global") ? ProxyFence::global : ProxyFence::shared);
  a.op.handler = do_fence_proxy;
}
void build_fence_init(Assembler& a) {
  a.op.handler = do_fence_mbarrier_init;
}
void build_fence_other(Assembler& a) {
  a.op.handler = do_fence;
}

using enum Rule::Kind;
constexpr Rule kOrders[] = {{"acquire|relaxed", needs, "cta|cluster"}, {"cta|cluster", needs, "acquire|relaxed"}};
constexpr Rule kArrivals[] = {{"release|relaxed", needs, "cta|cluster"},
                              {"cta|cluster", needs, "release|relaxed"},
                              {"noComplete", excludes, "relaxed|cluster|expect_tx|shared::cluster"}};
constexpr Rule kRestrictedFences[] = {{"acquire", excludes, "sync_restrict::shared::cta"},
                                      {"release", excludes, "sync_restrict::shared::cluster"}};

constexpr Form kForms[] = {
    {"mbarrier init ?shared|shared::cta b64", "as", Needs::sm_80, build_init},
    {"mbarrier inval ?shared|shared::cta b64", "a", Needs::sm_80, build_inval},
    {"mbarrier arrive|arrive_drop ?release|relaxed ?cta|cluster ?noComplete ?expect_tx "
     "?shared|shared::cta|shared::cluster b64",
     "das?", Needs::sm_80, build_arrive, kArrivals},
    {"mbarrier expect_tx relaxed cta|cluster ?shared|shared::cta|shared::cluster b64", "as", Needs::sm_90,
     build_arrive},
    {"mbarrier expect_tx ?shared|shared::cta|shared::cluster b64", "as", Needs::sm_90, build_arrive},
    {"mbarrier complete_tx ?relaxed ?cta|cluster ?shared|shared::cta|shared::cluster b64", "as", Needs::sm_90,
     build_complete, kOrders},
    {"mbarrier test_wait|try_wait ?parity ?acquire|relaxed ?cta|cluster ?shared|shared::cta b64", "pass?", Needs::sm_80,
     build_wait, kOrders},
    {"mbarrier pending_count b64", "ds", Needs::sm_80, build_pending},
    {"fence proxy async ?shared::cta|shared::cluster|global", "", Needs::sm_90, build_fence_proxy},
    {"fence proxy async::generic acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster cluster", "",
     Needs::sm_90, build_fence_proxy, kRestrictedFences},
    {"fence mbarrier_init release cluster", "", Needs::sm_90, build_fence_init},
    {"fence proxy alias", "", Needs::any, build_fence_other},
    {"fence acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster cluster", "", Needs::sm_90,
     build_fence_other, kRestrictedFences},
};

}  // namespace

std::span<const Form> mbarrier_forms() {
  return kForms;
}

}  // namespace tma_jit::emulator::isa
