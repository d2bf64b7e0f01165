// The dictionary in the head of a .npy file.
#include <string_view>

#include "npy_header.h"
#include "target.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  (void)cli::parse_npy_header({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz.npy");
}

std::vector<std::string> seeds() {
  return {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n",
          "{'shape': (), 'fortran_order': True, 'descr': '|u1'}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (7,)}\n"};
}

}  // namespace tma_jit::fuzz
