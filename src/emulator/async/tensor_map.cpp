#include "emulator/async/tensor_map.h"

namespace tma_jit::emulator {

ElementUnit unit_of(TensorMap::Type type) {
  using Type = TensorMap::Type;
  switch (type) {
    case Type::uint8: return {1, 1, 1};
    case Type::uint16:
    case Type::float16:
    case Type::bfloat16: return {1, 2, 2};
    case Type::uint64:
    case Type::int64:
    case Type::float64: return {1, 8, 8};
    case Type::u4_align8: return {16, 8, 8};
    case Type::u4_align16: return {16, 8, 16};
    case Type::u6_align16: return {16, 12, 16};
    default: return {1, 4, 4};
  }
}

u32 period_of(TensorMap::Swizzle swizzle) {
  switch (swizzle) {
    case TensorMap::Swizzle::none: return 128;
    case TensorMap::Swizzle::b32: return 256;
    case TensorMap::Swizzle::b64: return 512;
    default: return 1024;
  }
}

}  // namespace tma_jit::emulator
