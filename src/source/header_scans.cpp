#include "source/header_scans.h"

#include <map>
#include <mutex>
#include <string>

#include "base/fork.h"

namespace tma_jit::source {
namespace {

constexpr std::size_t kRemembered = 256;

struct Remembered {
  std::string text;
  std::shared_ptr<const Scan> scan;
};

struct Memory {
  std::mutex mutex;
  std::map<std::string, Remembered, std::less<>> by_name;
};

PerProcess<Memory> memory;

}  // namespace

std::shared_ptr<const Scan> scan_of_header(std::string_view name, std::string_view text) {
  Memory& known = memory.get();
  {
    const std::lock_guard lock(known.mutex);
    const auto found = known.by_name.find(name);
    if (found != known.by_name.end() && found->second.text == text) return found->second.scan;
  }
  auto made = std::make_shared<const Scan>(scan(text));
  const std::lock_guard lock(known.mutex);
  if (known.by_name.size() >= kRemembered) known.by_name.clear();
  known.by_name.insert_or_assign(std::string(name), Remembered{std::string(text), made});
  return made;
}

}  // namespace tma_jit::source
