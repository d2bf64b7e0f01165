#include "emulator/ptx/type.h"

#include <array>

namespace tma_jit::emulator::ptx {
namespace {

struct Row {
  Type type;
  std::string_view name;
};
constexpr std::array kRows = {
    Row{Type::none, ""},       Row{Type::pred, "pred"},   Row{Type::u8, "u8"},       Row{Type::s8, "s8"},
    Row{Type::b8, "b8"},       Row{Type::u16, "u16"},     Row{Type::s16, "s16"},     Row{Type::b16, "b16"},
    Row{Type::f16, "f16"},     Row{Type::bf16, "bf16"},   Row{Type::u32, "u32"},     Row{Type::s32, "s32"},
    Row{Type::b32, "b32"},     Row{Type::f32, "f32"},     Row{Type::f16x2, "f16x2"}, Row{Type::bf16x2, "bf16x2"},
    Row{Type::u16x2, "u16x2"}, Row{Type::s16x2, "s16x2"}, Row{Type::tf32, "tf32"},   Row{Type::u64, "u64"},
    Row{Type::s64, "s64"},     Row{Type::b64, "b64"},     Row{Type::f64, "f64"},     Row{Type::f32x2, "f32x2"},
    Row{Type::b128, "b128"},
};
static_assert(kRows.size() == static_cast<std::size_t>(Type::b128) + 1);

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return kRows[i].type;
  }
  return std::nullopt;
}

std::string_view name_of(Type type) {
  return kRows[static_cast<std::size_t>(type)].name;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 || type == Type::tf32;
}

}  // namespace tma_jit::emulator::ptx
