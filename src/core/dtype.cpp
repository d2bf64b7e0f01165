#include <array>

#include <tma_jit/dtype.h>

namespace tma_jit {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::size_t bytes;
  int fraction;  // bits
};

constexpr std::array kRows = {
    Row{DType::u8, "u8", 1, 0},     Row{DType::s8, "s8", 1, 0},     Row{DType::u16, "u16", 2, 0},
    Row{DType::s16, "s16", 2, 0},   Row{DType::u32, "u32", 4, 0},   Row{DType::s32, "s32", 4, 0},
    Row{DType::u64, "u64", 8, 0},   Row{DType::s64, "s64", 8, 0},   Row{DType::f16, "f16", 2, 10},
    Row{DType::bf16, "bf16", 2, 7}, Row{DType::f32, "f32", 4, 23},  Row{DType::f64, "f64", 8, 52},
    Row{DType::e4m3, "e4m3", 1, 3}, Row{DType::e5m2, "e5m2", 1, 2},
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
int fraction_bits(DType type) {
  return row_of(type).fraction;
}
bool is_floating_point(DType type) {
  return fraction_bits(type) != 0;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace tma_jit
