// A record's line in the very form in which tuning_line writes it, read in place. A line of any other form, though it
// may be a record, is for the JSON parser, which takes twenty times as long.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// The fields of a line; all texts are parts of it.
struct WrittenRecord {
  std::string_view problem;  // the beginning of the line, up to the device
  std::string_view kernel, hooks, conditions, device, file, digest, driver, compiler;
  std::string_view types, dims, pins, params;  // the members of the objects: "K":64,"M":4096
  int sm_count = 0;
  double us = 0, preset_us = 0;
};

// Returns nullopt unless the text, a line, is a valid record in that form: fields in that order, no blanks, names in
// ascending order, texts of printable ASCII without escapes.
[[nodiscard]] std::optional<WrittenRecord> read_written(std::string_view text);
[[nodiscard]] TuningRecord record_of(const WrittenRecord& written);

// Returns what WrittenRecord::problem is of the record's line.
[[nodiscard]] std::string problem_text(const TuningRecord& record);
// Returns the beginning of `problem_text` that all records of the kernel and the types have in common.
[[nodiscard]] std::string types_text(const TuningRecord& record);

// Takes the first of the members of an object of integers, such as WrittenRecord::dims, away from them.
struct NamedInteger {
  std::string_view name;
  std::int64_t value = 0;
};
[[nodiscard]] std::optional<NamedInteger> take_integer(std::string_view& members);

}  // namespace tma_jit::tuning
