#include "emulator/runtime/runtime_calls.h"

#include <bit>
#include <cstring>
#include <map>

#include "emulator/fault.h"
#include "emulator/machine/address.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/special.h"
#include "emulator/runtime/print_format.h"

namespace tma_jit::emulator::runtime {
namespace {

constexpr std::size_t kMostText = 4096;

// Reads memory of one lane through generic addresses.
class Reader {
 public:
  Reader(Warp& warp, int lane) : warp_(warp), lane_(lane) {}

  u64 value(u64 address, u32 bytes) const {
    u64 value = 0;
    std::memcpy(&value, at(address, bytes), bytes);
    return value;
  }
  // Reads up to a zero byte, or to the maximum length.
  std::string text(u64 address) const {
    std::string text;
    for (; text.size() < kMostText; ++address) {
      const char c = static_cast<char>(*at(address, 1));
      if (c == '\0') break;
      text.push_back(c);
    }
    return text;
  }

 private:
  const u8* at(u64 address, u32 bytes) const {
    Machine& machine = warp_.machine();
    if (is_local(address)) return warp_.local_at(static_cast<u32>(address), bytes, lane_);
    if (is_shared(address)) return machine.shared(warp_.block(), static_cast<u32>(address), bytes).bytes;
    return machine.global(address, bytes, false);
  }

  Warp& warp_;
  int lane_;
};

u64 print(Warp& warp, const Reader& reader, u64 format, u64 arguments) {
  if (format == 0) return static_cast<u64>(-1);
  const PrintSource source = {[&](u64 offset, u32 bytes) {
                                if (arguments == 0)
                                  throw_fault(FaultKind::bounds, "printf with a conversion and no arguments");
                                return reader.value(arguments + offset, bytes);
                              },
                              [&](u64 address) { return reader.text(address); }};
  const Printed printed = print_formatted(reader.text(format), source);
  warp.machine().print(printed.text);
  return static_cast<u64>(printed.arguments);
}

[[noreturn]] void fail(Warp& warp, const Reader& reader, int lane, const u64* arguments) {
  const auto text = [&](u64 address) { return address == 0 ? std::string("?") : reader.text(address); };
  const auto id = [&](std::string_view name) { return special_value(name, warp, lane); };
  throw_fault(FaultKind::trap, "{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] assertion `{}` failed",
              text(arguments[1]), static_cast<u32>(arguments[2]), text(arguments[3]), id("%ctaid.x"), id("%ctaid.y"),
              id("%ctaid.z"), id("%tid.x"), id("%tid.y"), id("%tid.z"), text(arguments[0]));
}

u64 call(Warp& warp, RuntimeFunction function, int lane, const u64* arguments) {
  const Reader reader(warp, lane);
  switch (function) {
    case RuntimeFunction::print: return print(warp, reader, arguments[0], arguments[1]);
    case RuntimeFunction::assertion: fail(warp, reader, lane, arguments);
    case RuntimeFunction::allocate: return warp.machine().allocate_in_kernel(arguments[0]);
    case RuntimeFunction::release: break;
  }
  warp.machine().release_in_kernel(arguments[0]);
  return 0;
}

}  // namespace

std::optional<RuntimeSignature> runtime_function(std::string_view name) {
  static const std::map<std::string_view, RuntimeSignature> functions = {
      {"vprintf", {RuntimeFunction::print, 2, true}},
      {"__assertfail", {RuntimeFunction::assertion, 5, false}},
      {"malloc", {RuntimeFunction::allocate, 1, true}},
      {"free", {RuntimeFunction::release, 1, false}}};
  const auto found = functions.find(name);
  return found == functions.end() ? std::nullopt : std::optional(found->second);
}

// Executes lane by lane. An argument has the width of its variable: 8 bytes for all but the line of __assertfail.
Step do_runtime_call(Warp& warp, const Op& op, Mask active) {
  const auto function = static_cast<RuntimeFunction>(op.kind);
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    u64 arguments[5] = {};
    for (std::size_t i = 0; i < op.list.size(); ++i) {
      const u32 bytes = function == RuntimeFunction::assertion && i == 2 ? 4 : 8;
      std::memcpy(&arguments[i], warp.local_at(static_cast<u32>(warp.lane(op.list[i], lane)), bytes, lane), bytes);
    }
    const u64 result = call(warp, function, lane, arguments);
    if (!op.a) continue;
    const u32 bytes = function == RuntimeFunction::print ? 4 : 8;
    std::memcpy(warp.local_at(static_cast<u32>(warp.lane(op.a, lane)), bytes, lane), &result, bytes);
  }
  warp.machine().progress();
  return Step::next;
}

}  // namespace tma_jit::emulator::runtime
