#include "emulator/tensor/transfer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emulator/fault.h"
#include "emulator/numeric/convert.h"

namespace tma_jit::emulator::tensor {
namespace {

using numeric::Format;

template <class T> T load_as(const u8* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T> void store_as(u8* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T> T combine_integers(Reduction reduction, T target, T source) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (reduction) {
    case Reduction::add: return static_cast<T>(static_cast<Unsigned>(target) + static_cast<Unsigned>(source));
    case Reduction::min: return std::min(target, source);
    case Reduction::max: return std::max(target, source);
    case Reduction::inc: return target >= source ? T{0} : static_cast<T>(target + 1);
    case Reduction::dec: return target == 0 || target > source ? source : static_cast<T>(target - 1);
    case Reduction::bitwise_and: return target & source;
    case Reduction::bitwise_or: return target | source;
    case Reduction::bitwise_xor: return target ^ source;
  }
  return target;
}

template <class T> void reduce_integers(Reduction reduction, u8* target, const u8* source, u32 bytes) {
  for (u32 i = 0; i < bytes; i += sizeof(T))
    store_as(target + i, combine_integers(reduction, load_as<T>(target + i), load_as<T>(source + i)));
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

double combine_floats(Reduction reduction, double target, double source) {
  if (reduction == Reduction::add) return target + source;
  // Both return the number if the other operand is NaN.
  return reduction == Reduction::min ? std::fmin(target, source) : std::fmax(target, source);
}

void reduce_f32(u8* target, const u8* source, u32 bytes) {
  for (u32 i = 0; i < bytes; i += 4)
    store_as(target + i, flushed(flushed(load_as<float>(target + i)) + flushed(load_as<float>(source + i))));
}

void reduce_f64(u8* target, const u8* source, u32 bytes) {
  for (u32 i = 0; i < bytes; i += 8) store_as(target + i, load_as<double>(target + i) + load_as<double>(source + i));
}

// A sum of two 16-bit floats is exact in f64 unless the exponents are far apart; then rounding twice is harmless,
// because the smaller number is below a quarter of a unit in the last place of the larger.
void reduce_halves(Reduction reduction, Format format, u8* target, const u8* source, u32 bytes) {
  for (u32 i = 0; i < bytes; i += 2) {
    const double a = numeric::value_of(format, load_as<u16>(target + i));
    const double b = numeric::value_of(format, load_as<u16>(source + i));
    store_as(target + i, static_cast<u16>(numeric::nearest(format, combine_floats(reduction, a, b))));
  }
}

u64 nan_pattern(ElementType element) {
  switch (element) {
    case ElementType::f16: return numeric::canonical_nan(Format::f16);
    case ElementType::bf16: return numeric::canonical_nan(Format::bf16);
    case ElementType::f64: return numeric::canonical_nan(Format::f64);
    default: return numeric::canonical_nan(Format::f32);
  }
}

void fill(const TensorMap& map, u32 bytes, u8* target) {
  if (map.fill == Fill::zero) {
    std::memset(target, 0, bytes);
    return;
  }
  const u64 pattern = nan_pattern(map.element);
  const auto size = static_cast<u32>(element_bytes(map.element));
  for (u32 i = 0; i + size <= bytes; i += size) std::memcpy(target + i, &pattern, size);
}

}  // namespace

std::optional<Format> reduced_as(ElementType element) {
  switch (element) {
    case ElementType::u32: return Format::u32;
    case ElementType::s32: return Format::s32;
    case ElementType::u64: return Format::u64;
    case ElementType::s64: return Format::s64;
    case ElementType::f16: return Format::f16;
    case ElementType::bf16: return Format::bf16;
    case ElementType::f32:
    case ElementType::f32_ftz: return Format::f32;
    case ElementType::f64: return Format::f64;
    default: return std::nullopt;
  }
}

bool has_reduction(Reduction reduction, Format format) {
  switch (format) {
    case Format::f16:
    case Format::bf16: return reduction == Reduction::add || reduction == Reduction::min || reduction == Reduction::max;
    case Format::f32:
    case Format::f64: return reduction == Reduction::add;
    case Format::u32: return true;
    case Format::s32:
    case Format::u64:
    case Format::s64: return reduction != Reduction::inc && reduction != Reduction::dec;
    default: return false;
  }
}

void load(const TensorMap& map, const Run& run, u8* shared) {
  const bool flushes = map.element == ElementType::f32_ftz || map.element == ElementType::tf32_ftz;
  for_each_piece(map, run, [&](u32 at, u32 offset, u32 bytes) {
    u8* const target = shared + at;
    if (run.fill) return fill(map, bytes, target);
    const auto* const source = reinterpret_cast<const u8*>(run.global + offset);
    if (bytes == 16) {  // a copy of constant size is inlined
      std::memcpy(target, source, 16);
    } else {
      std::memcpy(target, source, bytes);
    }
    for (u32 i = 0; flushes && i < bytes; i += 4) store_as(target + i, flushed(load_as<float>(target + i)));
  });
}

void reduce(Reduction reduction, Format format, u8* target, const u8* source, u32 bytes) {
  if (!has_reduction(reduction, format))
    throw_fault(FaultKind::unsupported, "no such reduction of elements of type {}", numeric::name_of(format));
  switch (format) {
    case Format::u32: return reduce_integers<u32>(reduction, target, source, bytes);
    case Format::s32: return reduce_integers<s32>(reduction, target, source, bytes);
    case Format::u64: return reduce_integers<u64>(reduction, target, source, bytes);
    case Format::s64: return reduce_integers<s64>(reduction, target, source, bytes);
    case Format::f32: return reduce_f32(target, source, bytes);
    case Format::f64: return reduce_f64(target, source, bytes);
    default: return reduce_halves(reduction, format, target, source, bytes);
  }
}

}  // namespace tma_jit::emulator::tensor
