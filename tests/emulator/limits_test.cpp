// Limits of the emulator: host memory that is available, and the instruction limit.
#include <filesystem>
#include <fstream>

#include <tma_jit/emulator.h>

#include "emulator/driver/host_memory.h"
#include "emulator/ptx_kernel.h"
#include "support/temporary_folder.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("Available memory is what the system and every control group leave") {
  const TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  CHECK(emulator::driver::available_memory(root) == ~u64{0});
  put(root / "proc/meminfo", "MemTotal:       32000000 kB\nMemAvailable:    1000 kB\nBuffers: 5 kB\n");
  CHECK(emulator::driver::available_memory(root) == 1'024'000);
  put(root / "proc/self/cgroup", "0::/a/b\n");
  put(root / "sys/fs/cgroup/a/b/memory.max", "max\n");
  put(root / "sys/fs/cgroup/a/b/memory.current", "100\n");
  CHECK(emulator::driver::available_memory(root) == 1'024'000);
  put(root / "sys/fs/cgroup/a/memory.max", "9000\n");
  put(root / "sys/fs/cgroup/a/memory.current", "8000\n");
  CHECK(emulator::driver::available_memory(root) == 1000);
  put(root / "sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 700\n");
  CHECK(emulator::driver::available_memory(root) == 1700);
  put(root / "sys/fs/cgroup/a/memory.current", "9500\n");
  put(root / "sys/fs/cgroup/a/memory.stat", "inactive_file 0\n");
  CHECK(emulator::driver::available_memory(root) == 0);
}

TEST_CASE("An allocation that the machine or the device has no room for is refused before it is taken") {
  const driver::Api api = table_of("sm_90a");
  CUcontext context = nullptr;
  const emulator::driver::Device& device = device_of("sm_90a");
  REQUIRE(api.device_primary_ctx_retain(&context, device.ordinal) == CUDA_SUCCESS);
  REQUIRE(api.ctx_push_current(context) == CUDA_SUCCESS);
  const auto room = static_cast<u64>(device.info.memory_bytes);
  const auto text_of = [&](u64 bytes) {
    CUdeviceptr address = 0;
    const char* text = nullptr;
    CHECK(api.mem_alloc(&address, bytes) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(api.get_error_string(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
    return std::string(text);
  };
  for (const u64 bytes : {room + 1, u64{1} << 40, ~u64{0}}) {
    CAPTURE(bytes);
    CHECK(text_of(bytes).starts_with("cuMemAlloc of " + std::to_string(bytes) + " bytes: h"));
  }
  const u64 available = emulator::driver::available_memory();
  if (available < room) {
    const std::string text = text_of(room - device.memory.allocated());
    CAPTURE(text);
    CHECK(text.find("keeps device memory in this machine's") != std::string::npos);
  }
  CHECK(api.ctx_pop_current(&context) == CUDA_SUCCESS);
}

TEST_CASE("A launch ends at its budget of instructions, with the budget and how to change it") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 64);
  const std::string text = kernel_text("L: add.u32 %r1, %r1, 1; st.global.u32 [%base], %r1; bra L;");
  device.settings.instruction_limit = 20'000;
  const std::string fault = fault_of(text, memory, {.block = 1});
  device.settings = {};
  CAPTURE(fault);
  CHECK(fault.starts_with("limit: the launch has executed more than 20000 instructions of warps"));
  CHECK(fault.find("instructions=N behind the device's name") != std::string::npos);
  CHECK(fault.find(",instructions=20000") != std::string::npos);
  CHECK(device.settings.instruction_limit == kEmulatorInstructions);
}
