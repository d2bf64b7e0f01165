#include "emulator/matrix/descriptor.h"

#include "emulator/fault.h"

namespace tma_jit::emulator::matrix {
namespace {

// Returns the bytes in a 14-bit field that counts units of 16 bytes.
u32 field(u64 bits, int at) {
  return static_cast<u32>((bits >> at) & 0x3fff) << 4;
}

SharedDescriptor decode_offsets(u64 bits) {
  return {field(bits, 0), field(bits, 16), field(bits, 32), static_cast<u32>((bits >> 49) & 7), Swizzle::none};
}

}  // namespace

SharedDescriptor decode_wgmma(u64 bits) {
  SharedDescriptor descriptor = decode_offsets(bits);
  constexpr u64 kReserved = (u64{3} << 14) | (u64{3} << 30) | (u64{7} << 46) | (u64{0x3ff} << 52);
  if ((bits & kReserved) != 0) {
    throw_fault(FaultKind::descriptor, "the matrix descriptor {:#018x} of a wgmma has reserved bits set: {:#x}", bits,
                bits & kReserved);
  }
  static constexpr Swizzle kModes[4] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  descriptor.swizzle = kModes[bits >> 62];
  return descriptor;
}

SharedDescriptor decode_tcgen05(u64 bits) {
  SharedDescriptor descriptor = decode_offsets(bits);
  if (((bits >> 46) & 7) != 1) {
    throw_fault(FaultKind::descriptor,
                "the matrix descriptor {:#018x} of a tcgen05 needs the value 1 in bits 46 to 48, not {}", bits,
                (bits >> 46) & 7);
  }
  constexpr u64 kReserved = (u64{3} << 14) | (u64{3} << 30) | (u64{0xff} << 53);
  if ((bits & kReserved) != 0) {
    throw_fault(FaultKind::descriptor, "the matrix descriptor {:#018x} of a tcgen05 has reserved bits set: {:#x}", bits,
                bits & kReserved);
  }
  if (((bits >> 52) & 1) != 0) {
    throw_fault(FaultKind::unsupported,
                "the matrix descriptor {:#018x} gives its leading dimension as an address (bit 52), which only "
                "sm_103a has; it is not emulated",
                bits);
  }
  switch (bits >> 61) {
    case 0: descriptor.swizzle = Swizzle::none; break;
    case 1: descriptor.swizzle = Swizzle::b128_atom32; break;
    case 2: descriptor.swizzle = Swizzle::b128; break;
    case 4: descriptor.swizzle = Swizzle::b64; break;
    case 6: descriptor.swizzle = Swizzle::b32; break;
    default:
      throw_fault(FaultKind::descriptor, "the matrix descriptor {:#018x} has no swizzle mode {}", bits, bits >> 61);
  }
  return descriptor;
}

u32 span_of(Swizzle swizzle) {
  static constexpr u32 kSpans[] = {16, 32, 64, 128, 128};
  return kSpans[static_cast<std::size_t>(swizzle)];
}

}  // namespace tma_jit::emulator::matrix
