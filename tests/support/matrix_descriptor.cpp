#include "support/matrix_descriptor.h"

#include "core/failure.h"
#include "plan/swizzle.h"

namespace tma_jit::plan {
namespace {

constexpr std::uint32_t kCoreBytes = 128;  // a core matrix: 8 rows of 16 bytes
constexpr std::uint32_t kInstructionBytes = 32;
constexpr std::uint64_t kVersionBlackwell = std::uint64_t{1} << 46;
constexpr std::uint32_t kFieldEnd = 1U << 18;  // 14 bits, in units of 16 bytes

std::uint64_t field(std::uint32_t bytes, int bit) {
  return static_cast<std::uint64_t>(bytes / 16) << bit;
}

std::uint32_t unfield(std::uint64_t bits, int bit) {
  return static_cast<std::uint32_t>(bits >> bit & 0x3FFF) * 16;
}

// Bits 61 to 63, as tcgen05 numbers them; wgmma has the upper two of them.
constexpr Swizzle kByCode[8] = {Swizzle::none, Swizzle::b128_atom_b32, Swizzle::b128, Swizzle::none,
                                Swizzle::b64,  Swizzle::none,          Swizzle::b32,  Swizzle::none};

int code_of(Swizzle swizzle) {
  for (int code = 0; code < 8; ++code) {
    if (kByCode[code] == swizzle) return code;
  }
  return -1;
}

Result<std::uint64_t> fields_of(const SharedMatrix& matrix) {
  for (const std::uint32_t bytes : {matrix.address, matrix.leading, matrix.stride}) {
    if (bytes % 16 == 0 && bytes < kFieldEnd) continue;
    return failure(ErrorCode::invalid_argument,
                   "matrix descriptor: address {}, leading {} and stride {} must be multiples of 16 below {}",
                   matrix.address, matrix.leading, matrix.stride, kFieldEnd);
  }
  if (matrix.base_offset > 7) {
    return failure(ErrorCode::invalid_argument, "matrix descriptor: base offset {} is not 0 to 7", matrix.base_offset);
  }
  const int code = code_of(matrix.swizzle);
  if (code < 0) {
    return failure(ErrorCode::invalid_argument,
                   "matrix descriptor: no matrix unit reads a swizzle of {} bytes in atoms of {}",
                   span_of(matrix.swizzle), atom_of(matrix.swizzle));
  }
  return field(matrix.address, 0) | field(matrix.leading, 16) | field(matrix.stride, 32) |
         static_cast<std::uint64_t>(matrix.base_offset) << 49 | static_cast<std::uint64_t>(code) << 61;
}

SharedMatrix read(std::uint64_t bits) {
  return {unfield(bits, 0), unfield(bits, 16), unfield(bits, 32), static_cast<std::uint32_t>(bits >> 49 & 7),
          kByCode[bits >> 61]};
}

bool known_code(std::uint64_t code) {
  return code == 0 || kByCode[code] != Swizzle::none;
}

}  // namespace

std::uint32_t place(const OperandTile& tile, std::uint32_t row, std::uint32_t k) {
  const bool mn = tile.major == Major::mn;
  const std::uint32_t along = (mn ? row : k) * tile.element_bytes, across = mn ? k : row;
  const std::uint32_t lines = mn ? tile.depth : tile.rows;
  if (tile.swizzle == Swizzle::none) {
    return (along / 16 * (lines / 8) + across / 8) * kCoreBytes + across % 8 * 16 + along % 16;
  }
  const std::uint32_t width = span_of(tile.swizzle);
  return swizzled(tile.swizzle, along / width * (lines * width) + across * width + along % width);
}

SharedMatrix operand_of(const OperandTile& tile, std::uint32_t address, std::uint32_t from) {
  SharedMatrix matrix{.address = address, .swizzle = tile.swizzle};
  const std::uint32_t width = span_of(tile.swizzle), bytes = from * tile.element_bytes;
  if (tile.major == Major::mn) {
    matrix.leading = width == 0 ? kCoreBytes : tile.depth * width;
    matrix.stride = width == 0 ? tile.depth / 8 * kCoreBytes : 8 * width;
    matrix.address += width == 0 ? from / 8 * kCoreBytes : from * width;
  } else if (width == 0) {
    matrix.leading = tile.rows / 8 * kCoreBytes;
    matrix.stride = kCoreBytes;
    matrix.address += bytes / 16 * matrix.leading;
  } else {
    matrix.leading = 16;  // not read
    matrix.stride = 8 * width;
    matrix.address += bytes / width * (tile.rows * width) + bytes % width;
  }
  static_assert(kInstructionBytes == 32);
  return matrix;
}

Result<std::uint64_t> wgmma_descriptor(const SharedMatrix& matrix) {
  if (matrix.swizzle == Swizzle::b128_atom_b32) {
    return failure(ErrorCode::invalid_argument, "matrix descriptor: wgmma reads swizzles in atoms of 16 bytes only");
  }
  return fields_of(matrix);
}

Result<std::uint64_t> tcgen05_descriptor(const SharedMatrix& matrix) {
  TMA_JIT_ASSIGN(const std::uint64_t fields, fields_of(matrix));
  return fields | kVersionBlackwell;
}

Result<SharedMatrix> read_wgmma_descriptor(std::uint64_t bits) {
  if ((bits >> 61 & 1) != 0) {
    return failure(ErrorCode::invalid_argument, "matrix descriptor: {:#018x} has bit 61, which wgmma does not know",
                   bits);
  }
  return read(bits);
}

Result<SharedMatrix> read_tcgen05_descriptor(std::uint64_t bits) {
  if ((bits >> 46 & 3) != 1) {
    return failure(ErrorCode::invalid_argument, "matrix descriptor: {:#018x} is of version {}, tcgen05's is 1", bits,
                   bits >> 46 & 3);
  }
  if (!known_code(bits >> 61)) {
    return failure(ErrorCode::invalid_argument, "matrix descriptor: {:#018x} has the unknown swizzle code {}", bits,
                   bits >> 61);
  }
  return read(bits);
}

}  // namespace tma_jit::plan
