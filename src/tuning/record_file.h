// Files of records as layers of a RecordBook.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/error.h>

#include "tuning/record_book.h"

namespace tma_jit::tuning {

struct FileLayer {
  SharedLayer layer;
  std::vector<std::string> faults;  // as TuningFile::faults
};

// Returns the records of a text, whose place has this name.
[[nodiscard]] FileLayer layer_of(std::string place, std::string text);
// Reads what read_tuning_file reads. Every line is checked; those that tuning_line wrote are made no records yet.
[[nodiscard]] Result<FileLayer> read_layer(const std::filesystem::path& file);

// A file of records that is read again when it has changed. Not thread-safe.
class RecordFile {
 public:
  explicit RecordFile(std::filesystem::path file) : file_(std::move(file)) {}
  // Returns what it holds; `again`: also what other processes have added since the last call. Valid until the next
  // call.
  [[nodiscard]] Result<const RecordBook*> book(bool again);

 private:
  using Stamp = std::array<std::int64_t, 5>;  // device, inode, size and time of change; zeros: no file
  static Stamp stamp_of(const std::filesystem::path& file);

  const std::filesystem::path file_;
  std::optional<RecordBook> book_;  // nullopt: not read yet
  Stamp stamp_{};                   // from before it was read
};

}  // namespace tma_jit::tuning
