#include "cache/carried_records.h"

#include <cstring>

#include "base/digest.h"

namespace tma_jit::cache {

Key records_key() {
  constexpr std::string_view kName = "tma-jit tuning records";
  return Key{sha256(kName.data(), kName.size())};
}

Entry records_entry(std::string_view lines) {
  Entry entry{std::vector<std::byte>(lines.size()), R"({"kernel":"tuning records"})"};
  std::memcpy(entry.cubin.data(), lines.data(), lines.size());
  return entry;
}

std::string lines_of(const Entry& entry) {
  return {reinterpret_cast<const char*>(entry.cubin.data()), entry.cubin.size()};
}

}  // namespace tma_jit::cache
