// PTX's fundamental and packed types, and its state spaces. PTX ISA 9.0, "State Spaces, Types, and Variables".
#pragma once

#include <optional>
#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator::ptx {

enum class Type : u8 {
  none,
  pred,
  u8,
  s8,
  b8,
  u16,
  s16,
  b16,
  f16,
  bf16,
  u32,
  s32,
  b32,
  f32,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  tf32,
  u64,
  s64,
  b64,
  f64,
  f32x2,
  b128
};

enum class Space : u8 { generic, global, shared, local, param, constant };

// Returns the type of a name without the dot, e.g. "u32".
std::optional<Type> type_named(std::string_view name);
std::string_view name_of(Type type);

// Returns the size in bytes; 1 for a predicate.
constexpr int size_of(Type type) {
  constexpr int kBytes[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 16};
  static_assert(sizeof kBytes / sizeof kBytes[0] == static_cast<std::size_t>(Type::b128) + 1);
  return kBytes[static_cast<std::size_t>(type)];
}
bool is_signed(Type type);
bool is_float(Type type);
inline int bits_of(Type type) {
  return 8 * size_of(type);
}

}  // namespace tma_jit::emulator::ptx
