#include "emulator/machine/activations.h"

#include <bit>
#include <cstring>
#include <map>

#include "emulator/fault.h"
#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

constexpr std::size_t kMostStack = std::size_t{512} << 10;  // bytes per thread, including saved registers
constexpr u32 kStackAlignment = 16;
constexpr std::size_t kActivationBytes = 32;  // of the stack, for the return address

// Returns a lane's registers as bytes, in the order of the list.
std::vector<u8> saved(const Warp& warp, const std::vector<RegisterRef>& refs, int lane) {
  std::vector<u8> bytes;
  for (const RegisterRef& reg : refs) {
    if (reg.width == 0) {
      bytes.push_back(static_cast<u8>(warp.predicate(reg) >> lane & 1U));
      continue;
    }
    const u8* const from = warp.values<u8>(reg) + static_cast<std::size_t>(lane) * reg.width;
    bytes.insert(bytes.end(), from, from + reg.width);
  }
  return bytes;
}

void restore(Warp& warp, const std::vector<RegisterRef>& refs, int lane, const std::vector<u8>& bytes) {
  const u8* from = bytes.data();
  for (const RegisterRef& reg : refs) {
    if (reg.width == 0) {
      warp.set_predicate(reg, Mask{1} << lane, *from++ != 0 ? kAllLanes : 0);
      continue;
    }
    std::memcpy(warp.writable<u8>(reg) + static_cast<std::size_t>(lane) * reg.width, from, reg.width);
    from += reg.width;
  }
}

const Callable& callee_at(const Program& program, u64 address, int lane) {
  const auto found = program.callables_by_address.find(address);
  if (found == program.callables_by_address.end())
    throw_fault(FaultKind::bounds, "lane {} calls {:#x}, which is no function's address", lane, address);
  return *found->second;
}

std::string sizes(const std::vector<CallForm::Value>& values) {
  std::string text;
  for (const CallForm::Value& value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value.bytes);
  return text;
}

bool agree(const std::vector<CallForm::Value>& actual, const std::vector<Callable::Value>& formal) {
  if (actual.size() != formal.size()) return false;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (actual[i].bytes != formal[i].bytes) return false;
  return true;
}

void check_values(const CallForm& form, const Callable& callee) {
  if (agree(form.arguments, callee.parameters) && agree(form.results, callee.results)) return;
  throw_fault(FaultKind::syntax, "a call of {} with values of [{}] bytes and results of [{}], which it does not take",
              callee.function->name, sizes(form.arguments), sizes(form.results));
}

}  // namespace

void CallStack::enter(Warp& warp, const Callable& callee, const CallForm& form, int lane, u32 return_to) {
  Lane& own = lanes_[static_cast<std::size_t>(lane)];
  std::vector<std::vector<u8>> arguments;
  for (const CallForm::Value& value : form.arguments) {
    const u8* const from = warp.local_at(static_cast<u32>(warp.lane(value.address, lane)), value.bytes, lane);
    arguments.emplace_back(from, from + value.bytes);
  }
  Activation made = {&callee, &form, return_to, first_ + static_cast<u32>(own.bytes.size()), {}, {}};
  for (const CallForm::Value& value : form.results)
    made.results.push_back(static_cast<u32>(warp.lane(value.address, lane)));
  made.saved = saved(warp, callee.registers, lane);
  own.saved_bytes += made.saved.size();
  const std::size_t units = (callee.local_bytes + kStackAlignment - 1) / kStackAlignment;
  const std::size_t end = own.bytes.size() + units * kStackAlignment;
  if (end + own.saved_bytes + first_ + kActivationBytes * own.activations.size() > kMostStack) {
    throw_fault(FaultKind::limit,
                "lane {} is {} calls deep in {} and needs more than {} bytes of stack: recursion that does not end?",
                lane, own.activations.size() + 1, callee.function->name, kMostStack);
  }
  own.bytes.resize(end, 0xCB);
  for (const Callable::Address& address : callee.addresses)
    warp.set_lane(address.reg, lane, made.base + address.offset);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::memcpy(at(made.base + callee.parameters[i].offset, callee.parameters[i].bytes, lane), arguments[i].data(),
                arguments[i].size());
  }
  own.activations.push_back(std::move(made));
}

u32 CallStack::leave(Warp& warp, int lane) {
  Lane& own = lanes_[static_cast<std::size_t>(lane)];
  const Activation done = std::move(own.activations.back());
  own.activations.pop_back();
  own.saved_bytes -= done.saved.size();
  std::vector<std::vector<u8>> results;
  for (const Callable::Value& value : done.callee->results) {
    const u8* const from = at(done.base + value.offset, value.bytes, lane);
    results.emplace_back(from, from + value.bytes);
  }
  restore(warp, done.callee->registers, lane, done.saved);
  own.bytes.resize(done.base - first_);
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::memcpy(warp.local_at(done.results[i], done.callee->results[i].bytes, lane), results[i].data(),
                results[i].size());
  }
  return done.return_to;
}

u8* CallStack::at(u32 address, u32 bytes, int lane) {
  std::vector<u8>& own = lanes_[static_cast<std::size_t>(lane)].bytes;
  if (address < first_ || u64{address} - first_ + bytes > own.size()) return nullptr;
  return own.data() + (address - first_);
}

Step do_call(Warp& warp, const Op& op, Mask active) {
  const auto& form = static_cast<const CallForm&>(*op.data);
  const u32 return_to = warp.subwarp().pc + 1;
  std::map<u32, Mask> targets;
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Callable& callee =
        form.callee != nullptr ? *form.callee : callee_at(warp.machine().program(), warp.lane(op.a, lane), lane);
    check_values(form, callee);
    warp.calls().enter(warp, callee, form, lane, return_to);
    targets[callee.entry] |= Mask{1} << lane;
  }
  warp.branch(targets);
  return Step::moved;
}

Step do_return(Warp& warp, const Op&, Mask active) {
  std::map<u32, Mask> targets;
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    targets[warp.calls().leave(warp, lane)] |= Mask{1} << lane;
  }
  warp.branch(targets);
  return Step::moved;
}

}  // namespace tma_jit::emulator
