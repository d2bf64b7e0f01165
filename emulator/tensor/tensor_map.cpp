#include "emulator/tensor/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "emulator/fault.h"

namespace tma_jit::emulator::tensor {
namespace {

constexpr u64 kMaxStride = u64{1} << 40;
constexpr u64 kMaxDim = u64{1} << 32;

bool is_padded(ElementType element) {
  return element == ElementType::b4x16_p64 || element == ElementType::b6x16_p32;
}

bool is_zeroed(const void* bytes) {
  const auto* first = static_cast<const u8*>(bytes);
  return std::all_of(first, first + sizeof(TensorMap), [](u8 byte) { return byte == 0; });
}

template <class Enum> Enum checked_code(Field field, u64 value, Enum last) {
  if (value > static_cast<u64>(last)) {
    throw_fault(FaultKind::tensor_map, "tensormap.replace: field {} does not take the value {}",
                static_cast<int>(field), value);
  }
  return static_cast<Enum>(value);
}

std::size_t checked_ordinal(u32 ordinal, u32 count) {
  if (ordinal >= count)
    throw_fault(FaultKind::tensor_map, "tensormap.replace: ordinal {} is beyond the last, {}", ordinal, count - 1);
  return ordinal;
}

// Checks the rules common to all modes.
const char* broken_layout_rule(const TensorMap& map) {
  const bool aligned32 = map.interleave == Interleave::b32 || is_padded(map.element);
  const u64 alignment = aligned32 ? 32 : 16;
  if (map.rank < 1 || map.rank > kMaxRank) return "the rank must be 1 to 5";
  if (map.address % alignment != 0)
    return "the address must be a multiple of 16 bytes (32 where interleaved by 32 or padded)";
  for (int d = 0; d < map.rank; ++d)
    if (map.dims[d] == 0 || map.dims[d] > kMaxDim) return "a dimension must have 1 to 2^32 elements";
  for (int d = 0; d + 1 < map.rank; ++d) {
    if (map.strides[d] % alignment != 0 || map.strides[d] >= kMaxStride)
      return "a stride must be a multiple of 16 bytes (32 where interleaved by 32 or padded) below 2^40";
  }
  for (int d = 0; d < map.rank; ++d)
    if (map.element_strides[d] < 1 || map.element_strides[d] > 8) return "an element stride must be 1 to 8";
  if (map.interleave != Interleave::none && map.rank < 3) return "interleaved layouts need rank 3 or more";
  if (is_padded(map.element) && map.dims[0] % 128 != 0)
    return "a padded format needs rows of a multiple of 128 elements";
  if (map.element == ElementType::b4x16 && map.dims[0] % 2 != 0) return "packed 4-bit elements need an even row";
  if (is_padded(map.element) && map.swizzle != SwizzleMode::none && map.swizzle != SwizzleMode::b128)
    return "a padded format takes the 128-byte swizzle or none";
  return "";
}

u64 inner_bytes(const TensorMap& map) {
  const u64 elements = map.walk == Walk::tile ? map.box[0] : map.channels;
  // A padded format takes 16 bytes of shared memory per 16 elements.
  return is_padded(map.element) ? elements : elements * static_cast<u64>(element_bits(map.element)) / 8;
}

const char* broken_box_rule(const TensorMap& map) {
  if (map.walk == Walk::tile) {
    for (int d = 0; d < map.rank; ++d)
      if (map.box[d] < 1 || map.box[d] > 256) return "a box must have 1 to 256 elements in a dimension";
    if (is_padded(map.element) && map.box[0] != 128) return "a padded format needs boxes of 128 elements";
  } else {
    if (map.rank < 3) return "im2col needs rank 3 or more";
    if (map.channels < 1 || map.channels > 256) return "channels per pixel must be 1 to 256";
    if (map.pixels < 1 || map.pixels > 1024) return "pixels per column must be 1 to 1024";
  }
  // With an interleaved layout, dimension 0 counts slices of 16 or 32 bytes.
  if (map.interleave == Interleave::none && inner_bytes(map) % 16 != 0)
    return "the box's rows must be a multiple of 16 bytes";
  const u32 span = swizzle_span(map);
  if (map.interleave == Interleave::none && span != 0 && inner_bytes(map) > span)
    return "the box's rows must not be wider than the swizzle's span";
  if (map.interleave == Interleave::b32 && map.swizzle != SwizzleMode::b32)
    return "a layout interleaved by 32 bytes needs the 32-byte swizzle";
  return "";
}

const char* broken_corner_rule(const TensorMap& map) {
  if (map.walk == Walk::tile) return "";
  const int bits = map.rank == 3 ? 16 : map.rank == 4 ? 8 : 5;
  const int low = -(1 << (bits - 1));
  const int high = (1 << (bits - 1)) - 1;
  const int corners = map.walk == Walk::im2col_wide ? 1 : map.rank - 2;
  for (int d = 0; d < corners; ++d) {
    if (map.lower[d] < low || map.lower[d] > high || map.upper[d] < low || map.upper[d] > high)
      return "a corner of the bounding box is out of its range (16 bits at rank 3, 8 at rank 4, 5 at rank 5)";
  }
  if (map.walk == Walk::im2col_wide && map.interleave != Interleave::none)
    return "im2col::w does not take interleaved layouts";
  if (map.walk == Walk::im2col_wide && (map.swizzle == SwizzleMode::none || map.atomicity == Atomicity::b32_flip_b8))
    return "im2col::w needs a swizzle, and not the flipping one";
  return "";
}

}  // namespace

int element_bits(ElementType element) {
  static constexpr std::array<int, 16> kBits = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4, 6};
  return kBits[static_cast<std::size_t>(element)];
}

int element_bytes(ElementType element) {
  return element_bits(element) < 8 ? 0 : element_bits(element) / 8;
}

u32 swizzle_span(const TensorMap& map) {
  return map.swizzle == SwizzleMode::none ? 0 : 16U << static_cast<u32>(map.swizzle);
}

const char* broken_rule(const TensorMap& map) {
  for (const char* rule : {broken_layout_rule(map), broken_box_rule(map), broken_corner_rule(map)})
    if (*rule != 0) return rule;
  return "";
}

TensorMap read_map(const void* bytes) {
  TensorMap map;
  std::memcpy(&map, bytes, sizeof map);
  if (map.magic != kMagic)
    throw_fault(FaultKind::tensor_map, "the 128 bytes hold no tensor map (their first word is {:#x})", map.magic);
  const char* rule = broken_rule(map);
  if (*rule != 0) throw_fault(FaultKind::tensor_map, "the tensor map breaks a rule: {}", rule);
  return map;
}

void replace(void* bytes, Field field, u32 ordinal, u64 value) {
  TensorMap map;
  std::memcpy(&map, bytes, sizeof map);
  if (map.magic != kMagic) {
    if (!is_zeroed(bytes)) throw_fault(FaultKind::tensor_map, "tensormap.replace: the 128 bytes hold no tensor map");
    map.magic = kMagic;
  }
  switch (field) {
    case Field::global_address: map.address = value; break;
    case Field::rank: map.rank = static_cast<u8>(std::min<u64>(value + 1, 255)); break;
    case Field::box_dim: map.box[checked_ordinal(ordinal, 5)] = static_cast<u16>(std::min<u64>(value, 0xffff)); break;
    case Field::global_dim: map.dims[checked_ordinal(ordinal, 5)] = value & 0xffffffff; break;
    case Field::global_stride: map.strides[checked_ordinal(ordinal, 4)] = value; break;
    case Field::element_stride:
      map.element_strides[checked_ordinal(ordinal, 5)] = static_cast<u8>(std::min<u64>(value, 255));
      break;
    case Field::elemtype: map.element = checked_code(field, value, ElementType::b6x16_p32); break;
    case Field::interleave_layout: map.interleave = checked_code(field, value, Interleave::b32); break;
    case Field::swizzle_mode: map.swizzle = checked_code(field, value, SwizzleMode::b128); break;
    case Field::swizzle_atomicity: map.atomicity = checked_code(field, value, Atomicity::b64); break;
    case Field::fill_mode: map.fill = checked_code(field, value, Fill::nan); break;
  }
  std::memcpy(bytes, &map, sizeof map);
}

}  // namespace tma_jit::emulator::tensor
