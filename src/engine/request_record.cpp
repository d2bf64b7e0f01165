#include "engine/request_record.h"

#include <tma_jit/warm_list.h>

#include "base/file.h"
#include "base/text.h"

namespace tma_jit::engine {

// A file that cannot be read counts as empty: lines that occur twice do no harm.
void RequestRecord::read() {
  read_ = true;
  const auto text = read_file(list_);
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) lines_.emplace(line);
}

void RequestRecord::add(const Request& request) {
  if (list_.empty()) return;
  std::string line = request_line(request);
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  if (!read_) read();
  if (!lines_.insert(line).second) return;
  const auto written = append_to_file(list_, line + "\n");
  if (written) return;
  failed_ = true;
  log_->warn("requests are not recorded: {}", written.error().message);
}

}  // namespace tma_jit::engine
