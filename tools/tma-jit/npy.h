// Reads and writes NumPy's .npy files, format 1.0 to 3.0: C order, little-endian, plain element types. numpy has no
// bf16 or 8-bit floats: they are stored as uint16 and uint8, or as the void types (V2, V1) that ml_dtypes writes.
// Format: numpy/lib/format.py, "Format Version 1.0".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/dtype.h>
#include <tma_jit/error.h>

namespace tma_jit::cli {

struct Array {
  DType dtype = DType::u8;
  bool opaque = false;  // a void type, of which only the element size is known
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

// Returns whether an array's elements can be read as `type`: the same type, or the raw bits of one that numpy lacks.
bool holds(const Array& array, DType type);

// `name` is the file's name in errors.
[[nodiscard]] Result<Array> parse_npy(std::span<const std::byte> file, const std::string& name);
[[nodiscard]] Result<Array> read_npy(const std::filesystem::path& path);
std::string npy_header(DType type, std::span<const std::int64_t> shape);
[[nodiscard]] Result<void> write_npy(const std::filesystem::path& path, DType type, std::span<const std::int64_t> shape,
                                     std::span<const std::byte> bytes);

// Returns the bytes of a regular file.
[[nodiscard]] Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path);

}  // namespace tma_jit::cli
