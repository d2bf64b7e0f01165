#include "emulator/machine/earlier_launches.h"

#include <algorithm>

namespace tma_jit::emulator {

void LaunchRecord::add(const EarlierAccess& access) {
  if (!accesses_.empty()) {
    EarlierAccess& last = accesses_.back();
    if (last.end == access.begin && last.op == access.op && last.written == access.written &&
        last.strong == access.strong) {
      last.end = access.end;
      return;
    }
  }
  accesses_.push_back(access);
}

const EarlierAccess* LaunchRecord::find_conflict(u64 address, u64 bytes, bool write, bool strong) const {
  auto next = std::ranges::upper_bound(accesses_, address, {}, &EarlierAccess::end);
  for (; next != accesses_.end() && next->begin < address + bytes; ++next) {
    if ((write || next->written) && !(strong && next->strong)) return &*next;
  }
  return nullptr;
}

const char* LaunchRecord::keep(std::string text) {
  places_.push_back(std::make_unique<const std::string>(std::move(text)));
  return places_.back()->c_str();
}

}  // namespace tma_jit::emulator
