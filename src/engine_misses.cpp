#include "engine_misses.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <tma_jit/warm_list.h>

#include "base/descriptor.h"
#include "base/failure.h"

namespace tma_jit {

Result<void> Misses::admit(const Source& source, const Key& key, const std::function<std::string()>& explain) {
  const Seal seal = seal_;
  if (seal == Seal::off) return {};
  ++counters_.sealed_misses;
  const Miss miss{source.kernel, source.arch, key, explain()};
  if (callback_) callback_(miss);
  const std::string what =
      fmt::format("{} for {} is not in the cache, and this engine is sealed", miss.kernel, miss.arch);
  if (seal == Seal::refuse) return tl::make_unexpected(Error{ErrorCode::sealed, what, miss.explanation});
  log_->warn("{}: compiling it all the same; {}", what, miss.explanation);
  return {};
}

void Misses::record(const Plan& plan) {
  if (list_.empty()) return;
  const std::string line = warm_line(plan) + "\n";
  const Descriptor file(::open(list_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const bool written = file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (written) {
    ++counters_.misses_recorded;
    return;
  }
  const std::string why = std::strerror(errno);
  std::call_once(failed_, [&] { log_->warn("misses are not recorded: cannot write {}: {}", list_.string(), why); });
}

}  // namespace tma_jit
