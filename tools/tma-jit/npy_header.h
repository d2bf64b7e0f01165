// The dictionary in the head of a .npy file: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::cli {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// `name` is the file's name in errors.
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& name);

}  // namespace tma_jit::cli
