#include "emulator/tensor/encode.h"

#include <algorithm>

#include "driver/emulator_interface.h"

namespace tma_jit::emulator::tensor {
namespace {

static_assert(static_cast<ElementType>(kMapTypes[static_cast<int>(MapType::f32_ftz)].ptx) == ElementType::f32_ftz);
static_assert(static_cast<ElementType>(kMapTypes[static_cast<int>(MapType::f64)].ptx) == ElementType::f64);
static_assert(static_cast<ElementType>(kMapTypes[static_cast<int>(MapType::bf16)].ptx) == ElementType::bf16);
static_assert(static_cast<ElementType>(kMapTypes[static_cast<int>(MapType::b6x16_p32)].ptx) == ElementType::b6x16_p32);

const char* decode_options(const EncodeArguments& arguments, TensorMap& map) {
  if (arguments.data_type >= kMapTypes.size()) return "the data type is not one of CUtensorMapDataType";
  if (arguments.interleave > 2) return "the interleave is not one of CUtensorMapInterleave";
  if (arguments.swizzle > 6) return "the swizzle is not one of CUtensorMapSwizzle";
  if (arguments.fill > 1) return "the fill is not one of CUtensorMapFloatOOBfill";
  const MapTypeRow& type = kMapTypes[arguments.data_type];
  map.element = static_cast<ElementType>(type.ptx);
  map.interleave = static_cast<Interleave>(arguments.interleave);
  map.swizzle = static_cast<SwizzleMode>(std::min(arguments.swizzle, 3U));
  map.atomicity = static_cast<Atomicity>(arguments.swizzle > 3 ? arguments.swizzle - 3 : 0);
  map.fill = static_cast<Fill>(arguments.fill);
  if (map.fill == Fill::nan && !type.floating) return "a fill of NaN needs a floating-point type";
  return "";
}

const char* decode(const EncodeArguments& arguments, TensorMap& map) {
  if (arguments.rank < 1 || arguments.rank > kMaxRank) return "the rank must be 1 to 5";
  map.magic = kMagic;
  map.rank = static_cast<u8>(arguments.rank);
  map.address = arguments.address;
  for (u32 d = 0; d < arguments.rank; ++d) {
    map.dims[d] = arguments.dims[d];
    map.element_strides[d] = static_cast<u8>(std::min(arguments.element_strides[d], 255U));
    if (d > 0) map.strides[d - 1] = arguments.strides[d - 1];
  }
  // CUDA Driver API 13.0: "Ignored since TMA doesn't support the stride for dimension zero."
  if (arguments.interleave == 0) map.element_strides[0] = 1;
  return decode_options(arguments, map);
}

std::string finish(const TensorMap& encoded, TensorMap& map) {
  const char* rule = broken_rule(encoded);
  if (*rule == 0) map = encoded;
  return rule;
}

s16 clamped(int corner) {
  return static_cast<s16>(std::clamp(corner, -32768, 32767));
}

}  // namespace

std::string encode_tiled(const EncodeArguments& arguments, const u32* box, TensorMap& map) {
  TensorMap encoded{};
  if (const char* rule = decode(arguments, encoded); *rule != 0) return rule;
  for (u32 d = 0; d < arguments.rank; ++d) encoded.box[d] = static_cast<u16>(std::min(box[d], 0xffffU));
  return finish(encoded, map);
}

std::string encode_im2col(const EncodeArguments& arguments, const Im2colBox& box, TensorMap& map) {
  TensorMap encoded{};
  if (const char* rule = decode(arguments, encoded); *rule != 0) return rule;
  if (arguments.rank < 3) return "im2col needs rank 3 or more";
  encoded.walk = box.wide ? Walk::im2col_wide : Walk::im2col;
  encoded.channels = static_cast<u16>(std::min(box.channels, 0xffffU));
  encoded.pixels = static_cast<u16>(std::min(box.pixels, 0xffffU));
  const u32 corners = box.wide ? 1 : arguments.rank - 2;
  for (u32 d = 0; d < corners; ++d) {
    if (box.lower[d] != clamped(box.lower[d]) || box.upper[d] != clamped(box.upper[d]))
      return "a corner of the bounding box is out of its range";
    encoded.lower[d] = clamped(box.lower[d]);
    encoded.upper[d] = clamped(box.upper[d]);
    const s64 width = static_cast<s64>(encoded.dims[d + 1]) + box.upper[d] - box.lower[d];
    if (width <= 0) return "the bounding box is empty";
  }
  return finish(encoded, map);
}

}  // namespace tma_jit::emulator::tensor
