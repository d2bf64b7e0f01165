// The baseline lane functions, and the selection at run time.
#include <bit>
#include <type_traits>

#include "emulator/numeric/float_bits.h"
#include "emulator/program/lanes.h"

namespace tma_jit::emulator::isa {
namespace generic {
#include "emulator/isa/arithmetic/lanes_body.h"
}  // namespace generic

#if defined(__x86_64__)
namespace x86_64_v3 {
extern const NamedLanes kTable[];
extern const NamedCompare kCompareTable[];
}  // namespace x86_64_v3
#endif

namespace {

bool has_v3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
#else
  return false;
#endif
}

template <class Row> auto find(const Row* row, std::string_view name) -> decltype(row->function) {
  for (; row->name != nullptr; ++row) {
    if (row->name == name) return row->function;
  }
  return nullptr;
}

}  // namespace
}  // namespace tma_jit::emulator::isa

tma_jit::emulator::LaneFunction tma_jit::emulator::find_lanes(std::string_view name) {
#if defined(__x86_64__)
  if (isa::has_v3()) return isa::find(isa::x86_64_v3::kTable, name);
#endif
  return isa::find(isa::generic::kTable, name);
}

tma_jit::emulator::CompareFunction tma_jit::emulator::find_compare(std::string_view name) {
#if defined(__x86_64__)
  if (isa::has_v3()) return isa::find(isa::x86_64_v3::kCompareTable, name);
#endif
  return isa::find(isa::generic::kCompareTable, name);
}
