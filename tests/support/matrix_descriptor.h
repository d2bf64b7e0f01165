// Shared-memory matrix descriptors of wgmma and tcgen05.mma and tcgen05's instruction descriptors, made and read on the
// host: what device code builds, in words. PTX ISA 9.0, "Matrix Descriptor Format" of wgmma; "Shared memory descriptor"
// and "Instruction descriptor" of tcgen05.
#pragma once

#include <cstdint>

#include <tma_jit/error.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit::plan {

enum class Major : std::uint8_t { k, mn };

// How an operand's tile lies in shared memory. Swizzled K-major tiles are panels of `span_of(swizzle)` bytes of K, one
// after the other, each of `rows` rows; swizzled MN-major tiles are panels of that many bytes of M or N, each of
// `depth` rows of K. Unswizzled tiles are core matrices of 8 rows x 16 bytes, 128 bytes each: along M or N first where
// K-major, along K first where MN-major.
struct OperandTile {
  Major major = Major::k;
  Swizzle swizzle = Swizzle::b128;  // none, b32, b64 or b128; tcgen05 also b128_atom_b32
  std::uint32_t rows = 64;          // of M or N
  std::uint32_t depth = 64;         // elements of K
  std::uint32_t element_bytes = 2;
};

// The byte of element (row, k), relative to the tile's base, which is a multiple of the swizzle's period.
std::uint32_t place(const OperandTile& tile, std::uint32_t row, std::uint32_t k);

// The fields of a descriptor, in bytes.
struct SharedMatrix {
  std::uint32_t address = 0;  // below 256 KB, a multiple of 16
  std::uint32_t leading = 0;  // leading dimension byte offset
  std::uint32_t stride = 0;   // stride dimension byte offset
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::none;
  bool operator==(const SharedMatrix&) const = default;
};

// The operand that begins at element k = `from` of a tile at `address`; `from` is a multiple of what one instruction
// takes, 32 bytes of K.
SharedMatrix operand_of(const OperandTile& tile, std::uint32_t address, std::uint32_t from);

// Fail with invalid_argument where a field does not fit or the unit lacks the swizzle.
[[nodiscard]] Result<std::uint64_t> wgmma_descriptor(const SharedMatrix& matrix);
[[nodiscard]] Result<std::uint64_t> tcgen05_descriptor(const SharedMatrix& matrix);
[[nodiscard]] Result<SharedMatrix> read_wgmma_descriptor(std::uint64_t bits);
[[nodiscard]] Result<SharedMatrix> read_tcgen05_descriptor(std::uint64_t bits);

enum class MmaKind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
enum class MmaElement : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8 };
enum class MmaAccumulator : std::uint8_t { f16, f32, s32 };
enum class ScaleType : std::uint8_t { ue4m3, ue8m0 };

// What one tcgen05.mma multiplies: D[m x n] = A[m x k] * B[n x k]^T.
struct Tcgen05Instruction {
  MmaKind kind = MmaKind::f16;
  MmaElement a = MmaElement::bf16, b = MmaElement::bf16;
  MmaAccumulator d = MmaAccumulator::f32;  // dense kinds
  int m = 128, n = 256;
  int blocks = 1;  // of the block group: 1 or 2
  Major a_major = Major::k, b_major = Major::k;
  bool negate_a = false, negate_b = false;
  bool saturate = false;               // i8 only
  ScaleType scale = ScaleType::ue8m0;  // block-scaled kinds
  int scale_a_id = 0, scale_b_id = 0;  // byte of the scale factors' word, 0 to 3
};

// Fails with invalid_argument and the reason where PTX has no such instruction.
[[nodiscard]] Result<std::uint32_t> tcgen05_instruction(const Tcgen05Instruction& instruction);

}  // namespace tma_jit::plan
