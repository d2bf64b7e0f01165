#include <array>

#include <tma_jit/dtype.h>

namespace tma_jit {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::size_t bytes;
  bool floating;
};

constexpr std::array kRows = {
    Row{DType::u8, "u8", 1, false},    Row{DType::s8, "s8", 1, false},    Row{DType::u16, "u16", 2, false},
    Row{DType::s16, "s16", 2, false},  Row{DType::u32, "u32", 4, false},  Row{DType::s32, "s32", 4, false},
    Row{DType::u64, "u64", 8, false},  Row{DType::s64, "s64", 8, false},  Row{DType::f16, "f16", 2, true},
    Row{DType::bf16, "bf16", 2, true}, Row{DType::f32, "f32", 4, true},   Row{DType::f64, "f64", 8, true},
    Row{DType::e4m3, "e4m3", 1, true}, Row{DType::e5m2, "e5m2", 1, true},
};

const Row& row_of(DType type) {
  return kRows[static_cast<std::size_t>(type)];
}

}  // namespace

std::size_t size_of(DType type) {
  return row_of(type).bytes;
}
std::string_view name_of(DType type) {
  return row_of(type).name;
}
bool is_floating_point(DType type) {
  return row_of(type).floating;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace tma_jit
