// The description of a tensor for the Tensor Memory Accelerator, without its address: the arguments of the driver's
// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide. docs/tensor-maps.md explains them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tma_jit/dtype.h>
#include <tma_jit/export.h>

namespace tma_jit {

// The element type of a tensor map, named as in PTX (PTX ISA 9.0, "tensormap.replace", .elemtype). The last three are
// groups of sixteen packed values of 4 or 6 bits. b4x16 has the same layout in shared and in global memory; b4x16_p64
// pads its 8 bytes to 16 in shared memory, b6x16_p32 its 12 bytes to 16.
enum class MapType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  b4x16,
  b4x16_p64,
  b6x16_p32
};

TMA_JIT_API std::string_view name_of(MapType type);
TMA_JIT_API std::optional<MapType> map_type_named(std::string_view name);
TMA_JIT_API int bits_of(MapType type);  // of one element in global memory
TMA_JIT_API bool is_packed(MapType type);
// Returns the map type for elements of `type`. TMA has no signed 8- and 16-bit types and no 8-bit float types; unsigned
// types of the same size stand for these.
TMA_JIT_API MapType map_type_of(DType type);

// How an instruction walks the tensor; PTX's .tile, .im2col, .im2col::w and .im2col::w::128.
enum class MapMode : std::uint8_t { tile, im2col, im2col_w, im2col_w128 };
TMA_JIT_API std::string_view name_of(MapMode mode);

// The last three need a Blackwell GPU. They move larger pieces (atoms) within 128 bytes; flip also swaps the halves of
// every 16 bytes in every second row.
enum class Swizzle : std::uint8_t { none, b32, b64, b128, b128_atom_b32, b128_atom_b32_flip_b8, b128_atom_b64 };
enum class Interleave : std::uint8_t { none, b16, b32 };
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };
enum class Fill : std::uint8_t { zero, nan };

// span_of returns the bytes that a swizzle's pattern spans, 0 for none; atom_of the bytes of the pieces it moves, 16
// for none.
TMA_JIT_API std::uint32_t span_of(Swizzle swizzle);
TMA_JIT_API std::uint32_t atom_of(Swizzle swizzle);

// Innermost dimension first, as the driver expects. `dims` and `box` count elements of `type()`; `strides` are in
// bytes, and strides[i] belongs to dimension i + 1.
struct TensorMapSpec {
  DType dtype = DType::f32;
  std::optional<MapType> as{};  // element type of the map; absent: that of the tensor
  MapMode mode = MapMode::tile;
  int rank = 0;
  std::array<std::uint64_t, 5> dims{};
  std::array<std::uint64_t, 4> strides{};
  // The box that one instruction moves. An im2col map uses only the first two: channels per pixel, and pixels per
  // column.
  std::array<std::uint32_t, 5> box{};
  std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  // Only for an im2col map: offsets of the corners of the bounding box of base pixels from the tensor's first and last
  // pixel, for the rank - 2 dimensions between the innermost and the outermost, innermost (W) first. The modes w and
  // w128 use only the first.
  std::array<std::int32_t, 3> lower{};
  std::array<std::int32_t, 3> upper{};
  Swizzle swizzle = Swizzle::none;
  Interleave interleave = Interleave::none;
  L2Promotion l2_promotion = L2Promotion::b128;
  Fill fill = Fill::zero;

  MapType type() const { return as.value_or(map_type_of(dtype)); }
  int box_rank() const { return mode == MapMode::tile ? rank : 2; }
  // Returns the number of corner offsets that the mode uses.
  int corners() const { return mode == MapMode::tile ? 0 : mode == MapMode::im2col ? rank - 2 : 1; }
};

}  // namespace tma_jit
