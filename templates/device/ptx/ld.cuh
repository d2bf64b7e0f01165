#pragma once
// Loads that are issued in the order of the calls. PTX ISA 9.0, "ld", "ld.global.nc".
#include "device/types.cuh"

namespace global {

// 16 bytes by loads of Bytes bytes, 4, 8 or 16, of which the address is a multiple.
template <int Bytes> __device__ inline uint4 load_16(const void* from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const auto at = __cvta_generic_to_global(from);
  uint4 x;
  if constexpr (Bytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(at));
  if constexpr (Bytes == 8) {
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "l"(at));
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2+8];" : "=r"(x.z), "=r"(x.w) : "l"(at));
  }
  if constexpr (Bytes == 4) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x.x) : "l"(at));
    asm volatile("ld.global.u32 %0, [%1+4];" : "=r"(x.y) : "l"(at));
    asm volatile("ld.global.u32 %0, [%1+8];" : "=r"(x.z) : "l"(at));
    asm volatile("ld.global.u32 %0, [%1+12];" : "=r"(x.w) : "l"(at));
  }
  return x;
}
// The same for what a block reads once: loads of 16 bytes do not displace what is in L1, and L2 fetches the surrounding
// 128 bytes. They are not `.nc`, which ptxas moves past griddepcontrol.wait.
template <int Bytes> __device__ inline uint4 load_16_once(const void* from) {
  if constexpr (Bytes < 16) {
    return load_16<Bytes>(from);
  } else {
    uint4 x;
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(__cvta_generic_to_global(from)));
    return x;
  }
}
// 16 such bytes by one load, or zeros where `exists` is false, without a branch.
__device__ inline uint4 load_16_if(bool exists, const void* from) {
  uint4 x;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %4, 0;\n"
      "mov.u32 %0, 0;\n"
      "mov.u32 %1, 0;\n"
      "mov.u32 %2, 0;\n"
      "mov.u32 %3, 0;\n"
      "@p ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%5];\n"
      "}"
      : "=&r"(x.x), "=&r"(x.y), "=&r"(x.z), "=&r"(x.w)
      : "r"(u32{exists}), "l"(__cvta_generic_to_global(from)));
  return x;
}

}  // namespace global
