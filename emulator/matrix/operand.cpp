#include "emulator/matrix/operand.h"

#include <cstring>

#include "emulator/fault.h"
#include "emulator/numeric/decode_float.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

constexpr u32 kChunk = 16;               // bytes that are contiguous in every layout
constexpr u32 kMaxElements = 256 * 128;  // 256 rows of 128 packed 4-bit elements

// Returns the bits that an element takes in shared memory along its row.
u32 stored_bits(const Operand& operand) {
  const auto bits = static_cast<u32>(numeric::bits_of(operand.format));
  return bits < 8 && operand.padded ? 8 : bits;
}

// Returns the bytes of a chunk that hold elements; the padding is not read.
u32 used_bytes(const Operand& operand) {
  const auto bits = static_cast<u32>(numeric::bits_of(operand.format));
  return stored_bits(operand) == bits ? kChunk : kChunk * bits / 8;
}

// The operand as lines of chunks: either rows along K, or lines of one k along M or N.
struct Lines {
  u32 count;
  u32 chunks;  // per line
};

Lines lines_of(const Operand& operand) {
  const u32 length = operand.major == Major::k ? operand.depth : operand.rows;
  const u32 count = operand.major == Major::k ? operand.rows : operand.depth;
  return {count, (length * stored_bits(operand) / 8 + kChunk - 1) / kChunk};
}

// The layout of lines and chunks before the swizzle: groups of contiguous lines or chunks, and the stride between
// groups.
struct Layout {
  u32 lines, line_bytes, line_stride;
  u32 chunks, chunk_stride;
};

// The canonical layouts of PTX ISA 9.0, "Strides". Eight rows form a group; `stride` is the distance between groups.
// Without a swizzle, `leading` is the distance between chunks.
Layout k_major_layout(const SharedDescriptor& descriptor) {
  if (descriptor.swizzle == Swizzle::none) return {8, kChunk, descriptor.stride, 1, descriptor.leading};
  return {8, span_of(descriptor.swizzle), descriptor.stride, ~u32{0}, 0};
}

// MN-major: eight values of k (four with 32-byte atoms) form a group of lines as wide as the swizzle. `leading` is the
// distance between such widths of M or N, `stride` that between groups of k; without a swizzle the two are exchanged.
Layout mn_major_layout(const SharedDescriptor& descriptor) {
  if (descriptor.swizzle == Swizzle::none) return {8, kChunk, descriptor.leading, 1, descriptor.stride};
  const u32 span = span_of(descriptor.swizzle);
  const u32 group = descriptor.swizzle == Swizzle::b128_atom32 ? 4 : 8;
  return {group, span, descriptor.stride, span / kChunk, descriptor.leading};
}

// Calls f(address) for each chunk, line by line.
template <class F> void for_each_chunk(const Operand& operand, F f) {
  const Lines lines = lines_of(operand);
  const SharedDescriptor& descriptor = operand.descriptor;
  const Layout layout = operand.major == Major::k ? k_major_layout(descriptor) : mn_major_layout(descriptor);
  for (u32 line = 0; line < lines.count; ++line) {
    const u32 first =
        descriptor.start + line % layout.lines * layout.line_bytes + line / layout.lines * layout.line_stride;
    for (u32 chunk = 0; chunk < lines.chunks; ++chunk) {
      const u32 offset = chunk % layout.chunks * kChunk + chunk / layout.chunks * layout.chunk_stride;
      f(swizzled(descriptor, first + offset));
    }
  }
}

void check_layout(const Operand& operand) {
  const bool atoms32 = operand.descriptor.swizzle == Swizzle::b128_atom32;
  if (operand.major == Major::k) return;
  const int bits = numeric::bits_of(operand.format);
  if (bits < 8) {
    throw_fault(FaultKind::descriptor, "an operand of {} elements cannot be transposed",
                numeric::name_of(operand.format));
  }
  if ((bits == 32) != atoms32) {
    throw_fault(FaultKind::descriptor,
                "a transposed operand of {} elements {} the 128-byte swizzle with atoms of 32 bytes",
                numeric::name_of(operand.format), bits == 32 ? "needs" : "does not take");
  }
}

// Copies the chunks in the order of lines.
void collect(const Operand& operand, const u8* shared, u8* out) {
  for_each_chunk(operand, [&](u32 address) {
    std::memcpy(out, shared + address, kChunk);
    out += kChunk;
  });
}

// Expands 16 elements packed at the front of each 16 bytes to one byte each.
void spread_padded(int bits, const u8* from, u32 chunks, u8* to) {
  for (u32 chunk = 0; chunk < chunks; ++chunk, from += kChunk, to += kChunk) {
    u64 low = 0;
    u64 high = 0;
    std::memcpy(&low, from, 8);
    std::memcpy(&high, from + 8, 8);
    for (int i = 0; i < 16; ++i) {
      const int at = i * bits;
      const u64 word = at >= 64 ? high >> (at - 64) : (low >> at) | (at == 0 ? 0 : high << (64 - at));
      to[i] = static_cast<u8>(word & ((1U << bits) - 1));
    }
  }
}

void spread_nibbles(const u8* from, u32 bytes, u8* to) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to[2 * i] = from[i] & 15;
    to[2 * i + 1] = from[i] >> 4;
  }
}

void decode(Format format, const u8* from, u32 count, float* out) {
  numeric::decode_f32(format, from, out, static_cast<int>(count));
}
void decode(Format format, const u8* from, u32 count, s32* out) {
  numeric::decode_s32(format, from, out, static_cast<int>(count));
}

template <class T> void decode_lines(const Operand& operand, const u8* bytes, u32 count, T* out) {
  const int bits = numeric::bits_of(operand.format);
  if (bits >= 8) return decode(operand.format, bytes, count, out);
  static thread_local u8 spread[kMaxElements];
  if (operand.padded) {
    spread_padded(bits, bytes, count / 16, spread);
  } else {
    spread_nibbles(bytes, count / 2, spread);
  }
  decode(operand.format, spread, count, out);
}

// Copies in[i * columns + j] to out[j * rows + i].
template <class T> void transpose(const T* in, u32 rows, u32 columns, T* out) {
  for (u32 j = 0; j < columns; ++j)
    for (u32 i = 0; i < rows; ++i) out[j * rows + i] = in[i * columns + j];
}

template <class T> void gather_as(const Operand& operand, const u8* shared, Order order, T* out) {
  static thread_local u8 bytes[kMaxElements * 4];
  static thread_local T values[kMaxElements];
  collect(operand, shared, bytes);
  const Order stored = operand.major == Major::k ? Order::rows : Order::columns;
  const u32 count = operand.rows * operand.depth;
  if (order == stored) return decode_lines(operand, bytes, count, out);
  decode_lines(operand, bytes, count, values);
  if (stored == Order::rows) {
    transpose(values, operand.rows, operand.depth, out);
  } else {
    transpose(values, operand.depth, operand.rows, out);
  }
}

template <class T> void unpack_as(Format format, bool packed, const u8* words, u32 count, T* out) {
  const int bits = numeric::bits_of(format);
  if (bits >= 8) return decode(format, words, count * elements_per_word(format, packed), out);
  static thread_local u8 spread[kMaxElements];
  if (packed) {
    spread_nibbles(words, count * 4, spread);
    return decode(format, spread, count * 8, out);
  }
  const int shift = format == Format::e2m1 ? 2 : 0;
  for (u32 i = 0; i < count * 4; ++i) spread[i] = static_cast<u8>((words[i] >> shift) & ((1U << bits) - 1));
  decode(format, spread, count * 4, out);
}

}  // namespace

void append_footprint(const Operand& operand, u32 size, std::vector<ByteRange>& spans) {
  check_layout(operand);
  const std::size_t first = spans.size();
  const u32 used = used_bytes(operand);
  for_each_chunk(operand, [&](u32 address) {
    if (address + kChunk > size) {
      throw_fault(
          FaultKind::bounds,
          "an operand of {} rows by {} elements of {} reaches {:#x}, beyond the block's {:#x} bytes of shared memory",
          operand.rows, operand.depth, numeric::name_of(operand.format), address + kChunk, size);
    }
    if (spans.size() > first) {
      ByteRange& last = spans.back();
      const bool before = address + used == last.offset;
      if (before || last.offset + last.bytes == address) {
        if (before) last.offset = address;
        last.bytes += used;
        return;
      }
    }
    spans.push_back({address, used});
  });
}

void gather(const Operand& operand, const u8* shared, Order order, float* out) {
  gather_as(operand, shared, order, out);
}
void gather(const Operand& operand, const u8* shared, Order order, s32* out) {
  gather_as(operand, shared, order, out);
}

u32 elements_per_word(Format format, bool packed) {
  const auto bits = static_cast<u32>(numeric::bits_of(format));
  return bits >= 8 ? 32 / bits : packed ? 32 / bits : 4;
}

void unpack(Format format, bool packed, const u8* words, u32 count, float* out) {
  unpack_as(format, packed, words, count, out);
}
void unpack(Format format, bool packed, const u8* words, u32 count, s32* out) {
  unpack_as(format, packed, words, count, out);
}

}  // namespace tma_jit::emulator::matrix
