// A file of records as a layer of a RecordBook.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "tuning/record_book.h"

namespace tma_jit::tuning {

struct FileLayer {
  SharedLayer layer;
  std::vector<std::string> faults;  // as TuningFile::faults
};

// Reads what read_tuning_file reads. Every line is checked; those that tuning_line wrote are made no records yet.
[[nodiscard]] Result<FileLayer> read_layer(const std::filesystem::path& file);

}  // namespace tma_jit::tuning
