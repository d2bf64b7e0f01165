// Files of records: read together with their faults, and changed atomically by one process at a time.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "core/failure.h"
#include "tuning/file_lock.h"
#include "tuning/problem_key.h"
#include "tuning/record_file.h"
#include "tuning/written_record.h"

namespace tma_jit {
namespace {

constexpr std::chrono::seconds kMergeWait{10};  // a merge takes milliseconds

Result<std::string> text_of(const std::filesystem::path& file) {
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT) return std::string();
  return read_file(file);
}

bool says_nothing(std::string_view line) {
  return trimmed(line).empty() || trimmed(line).front() == '#';
}

// Calls `use` with every line that says something, and its number.
template <class Use> void each_line(std::string_view text, const Use& use) {
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (!says_nothing(line)) use(line, number);
  }
}

std::string fault_in(const std::string& place, std::size_t number, const Error& error) {
  return fmt::format("{}:{}: {}", place, number, error.message);
}

std::string merged(std::string_view text, std::span<const TuningRecord> records) {
  std::set<std::string> replaced;
  std::vector<std::string> lines, others;
  for (const TuningRecord& record : records) {
    if (replaced.insert(tuning::problem_key(record)).second) lines.push_back(tuning_line(record));
  }
  for (const std::string_view line : split(text, '\n')) {
    if (trimmed(line).empty()) continue;
    const auto record = parse_tuning_line(line);
    if (!record) {
      others.emplace_back(line);
    } else if (!replaced.contains(tuning::problem_key(*record))) {
      lines.emplace_back(line);
    }
  }
  std::ranges::sort(lines);
  lines.insert(lines.begin(), others.begin(), others.end());
  return joined(lines, "\n") + "\n";
}

}  // namespace

Result<TuningFile> read_tuning_file(const std::filesystem::path& file) {
  TMA_JIT_ASSIGN(const std::string text, text_of(file));
  TuningFile found;
  each_line(text, [&](std::string_view line, std::size_t number) {
    auto record = parse_tuning_line(line);
    if (record) {
      found.records.push_back(std::move(*record));
    } else {
      found.faults.push_back(fault_in(file.string(), number, record.error()));
    }
  });
  return found;
}

tuning::FileLayer tuning::layer_of(std::string place, std::string text) {
  const auto layer = std::make_shared<RecordLayer>(std::move(place), std::move(text));
  FileLayer found{layer, {}};
  each_line(layer->text(), [&](std::string_view line, std::size_t number) {
    if (const auto written = read_written(line)) return layer->add(line, *written);
    auto record = parse_tuning_line(line);
    if (record) return layer->add(std::move(*record));
    found.faults.push_back(fault_in(layer->origin(), number, record.error()));
  });
  layer->sort();
  return found;
}

Result<tuning::FileLayer> tuning::read_layer(const std::filesystem::path& file) {
  TMA_JIT_ASSIGN(std::string text, text_of(file));
  return layer_of(file.string(), std::move(text));
}

tuning::RecordFile::Stamp tuning::RecordFile::stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), status.st_size,
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

Result<const tuning::RecordBook*> tuning::RecordFile::book(bool again) {
  if (book_ && !again) return &*book_;
  const Stamp stamp = stamp_of(file_);
  if (book_ && stamp == stamp_) return &*book_;
  TMA_JIT_ASSIGN(FileLayer read, read_layer(file_));
  book_.emplace().add_layer(std::move(read.layer));
  stamp_ = stamp;
  return &*book_;
}

// If two of the given records have the same problem, the first is kept.
Result<void> merge_tuning_file(const std::filesystem::path& file, std::span<const TuningRecord> records) {
  if (records.empty()) return {};
  TMA_JIT_ASSIGN([[maybe_unused]] const tuning::FileLock lock,
                 tuning::FileLock::take(file, ".lock", std::chrono::steady_clock::now() + kMergeWait));
  TMA_JIT_ASSIGN(const std::string text, text_of(file));
  return replace_file(file, merged(text, records));
}

}  // namespace tma_jit
