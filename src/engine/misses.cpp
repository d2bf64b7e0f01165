#include "engine/misses.h"

#include <tma_jit/warm_list.h>

#include "base/file.h"
#include "core/caller_function.h"
#include "core/failure.h"

namespace tma_jit::engine {

Result<void> Misses::admit(const Source& source, const Key& key, const Cause& cause) {
  const Seal seal = seal_;
  if (seal == Seal::off) return {};
  ++counters_.sealed_misses;
  const Miss miss{source.kernel, source.arch, key, cause.explain()};
  if (callback_) call_caller([&] { callback_(miss); });
  const std::string what =
      fmt::format("{} for {} is not in the cache, and this engine is sealed", miss.kernel, miss.arch);
  if (seal == Seal::refuse) return tl::make_unexpected(Error{ErrorCode::sealed, what, miss.explanation});
  log_->warn("{}: {}; {}", what, cause.can_compile ? "compiling it all the same" : "and there is no compiler",
             miss.explanation);
  return {};
}

void Misses::record(const Plan& plan) {
  if (list_.empty()) return;
  const auto written = append_to_file(list_, warm_line(plan) + "\n");
  if (written) {
    ++counters_.misses_recorded;
    return;
  }
  std::call_once(failed_, [&] { log_->warn("misses are not recorded: {}", written.error().message); });
}

}  // namespace tma_jit::engine
