#include "emulator/isa/forms.h"

#include "emulator/isa/families.h"

namespace tma_jit::emulator::isa {

const decode::FormTable& all_forms() {
  static const std::span<const Form> families[] = {
      arithmetic_forms(), logic_forms(),    convert_forms(),   memory_forms(),   control_forms(),
      warp_forms(),       mbarrier_forms(), copy_forms(),      cp_async_forms(), cluster_forms(),
      matrix_forms(),     tcgen05_forms(),  tensormap_forms(), launch_forms()};
  static const decode::FormTable table(families);
  return table;
}

}  // namespace tma_jit::emulator::isa
