// Files of records: read together with their faults, and changed atomically by one process at a time.
#include <fcntl.h>
#include <sys/file.h>
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

tl::unexpected<Error> io_failure(std::string_view what, const std::filesystem::path& file) {
  return failure(ErrorCode::io, "{} {}: {}", what, file.string(), std::strerror(errno));
}

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

std::string fault_in(const std::filesystem::path& file, std::size_t number, const Error& error) {
  return fmt::format("{}:{}: {}", file.string(), number, error.message);
}

// Writes a temporary file and renames it, so that a reader sees either the old or the new text.
Result<void> replace_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::path made = file;
  made += fmt::format(".{}.new", ::getpid());
  TMA_JIT_CHECK(write_file(made, text));
  if (::rename(made.c_str(), file.c_str()) == 0) return {};
  auto fault = io_failure("cannot rename to", file);
  ::unlink(made.c_str());
  return fault;
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
      found.faults.push_back(fault_in(file, number, record.error()));
    }
  });
  return found;
}

Result<tuning::FileLayer> tuning::read_layer(const std::filesystem::path& file) {
  TMA_JIT_ASSIGN(std::string text, text_of(file));
  const auto layer = std::make_shared<RecordLayer>(file.string(), std::move(text));
  FileLayer found{layer, {}};
  each_line(layer->text(), [&](std::string_view line, std::size_t number) {
    if (read_written(line)) return layer->add(line);
    auto record = parse_tuning_line(line);
    if (record) return layer->add(std::move(*record));
    found.faults.push_back(fault_in(file, number, record.error()));
  });
  layer->sort();
  return found;
}

tuning::RecordFile::Stamp tuning::RecordFile::stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), status.st_size,
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

Result<tuning::SharedLayer> tuning::RecordFile::layer() {
  const Stamp stamp = stamp_of(file_);
  if (layer_ != nullptr && stamp == stamp_) return layer_;
  TMA_JIT_ASSIGN(FileLayer read, read_layer(file_));
  layer_ = std::move(read.layer);
  stamp_ = stamp;
  return layer_;
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
