#include "emulator/ptx/type.h"

#include <array>

namespace tma_jit::emulator::ptx {
namespace {

struct Row {
  Type type;
  std::string_view name;
  int size;
};
constexpr std::array kRows = {
    Row{Type::none, "", 0},         Row{Type::pred, "pred", 1},  Row{Type::u8, "u8", 1},
    Row{Type::s8, "s8", 1},         Row{Type::b8, "b8", 1},      Row{Type::u16, "u16", 2},
    Row{Type::s16, "s16", 2},       Row{Type::b16, "b16", 2},    Row{Type::f16, "f16", 2},
    Row{Type::bf16, "bf16", 2},     Row{Type::u32, "u32", 4},    Row{Type::s32, "s32", 4},
    Row{Type::b32, "b32", 4},       Row{Type::f32, "f32", 4},    Row{Type::f16x2, "f16x2", 4},
    Row{Type::bf16x2, "bf16x2", 4}, Row{Type::tf32, "tf32", 4},  Row{Type::u64, "u64", 8},
    Row{Type::s64, "s64", 8},       Row{Type::b64, "b64", 8},    Row{Type::f64, "f64", 8},
    Row{Type::f32x2, "f32x2", 8},   Row{Type::b128, "b128", 16},
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

int size_of(Type type) {
  return kRows[static_cast<std::size_t>(type)].size;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 || type == Type::tf32;
}

}  // namespace tma_jit::emulator::ptx
