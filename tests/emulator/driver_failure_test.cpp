// Error texts of the driver's table, and calls while the process exits.
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

const driver::Api& api() {
  static const driver::Api table = table_of("sm_90a");
  return table;
}

CUdeviceptr kept = 0;

// Runs after the thread's own objects are destroyed, like destructors of static objects.
void free_late() {
  char byte = 0;
  const char* text = nullptr;
  const bool freed = api().mem_free(kept) == CUDA_SUCCESS;
  const bool refused = api().memcpy_device_to_host(&byte, kept, 1) == CUDA_ERROR_INVALID_VALUE;
  const bool said = api().get_error_string(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS && text != nullptr;
  if (!freed || !refused || !said) _exit(3);
}

void end_late() {
  CUcontext context = nullptr;
  if (api().device_primary_ctx_retain(&context, api().only_device) != CUDA_SUCCESS) _exit(4);
  if (api().ctx_push_current(context) != CUDA_SUCCESS || api().mem_alloc(&kept, 64) != CUDA_SUCCESS) _exit(5);
  char byte = 0;
  if (api().memcpy_device_to_host(&byte, 1, 1) != CUDA_ERROR_INVALID_VALUE) _exit(6);
  if (std::atexit(free_late) != 0) _exit(7);
  std::exit(0);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

TEST_CASE("Memory is freed, and a failure said, after a thread's own objects are gone") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) end_late();
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("A text of cuGetErrorString is shorter than 1,000 characters, and the report is whole beside it") {
  const emulator::Fault fault{emulator::FaultKind::race,
                              "two accesses",
                              {},
                              std::string(900, 'x') + "\nthe second line\n" + std::string(900, 'y')};
  for (const bool long_one : {false, true}) {
    const std::string whole = long_one ? fault.text() : "a short one";
    CHECK(emulator::driver::guarded([&]() -> CUresult {
            throw emulator::Fault{emulator::FaultKind::race, whole, {}, {}};
          }) == CUDA_ERROR_LAUNCH_FAILED);
    const char* text = nullptr;
    REQUIRE(api().get_error_string(CUDA_ERROR_LAUNCH_FAILED, &text) == CUDA_SUCCESS);
    CAPTURE(std::string(text));
    CHECK(std::string(text).size() < 1000);
    CHECK(std::string(text).starts_with("race: "));
    CHECK(std::string(text).ends_with("the report goes on)") == long_one);
    CHECK(std::string(api().failure_report(CUDA_ERROR_LAUNCH_FAILED)) ==
          emulator::Fault{emulator::FaultKind::race, whole, {}, {}}.text());
    CHECK(api().failure_report(CUDA_ERROR_INVALID_VALUE) == nullptr);
    CHECK(driver::error_of(api(), CUDA_ERROR_LAUNCH_FAILED, "cuX()").message.find(whole) != std::string::npos);
  }
}

TEST_CASE("Contexts are pushed until there is no room, and popped in turn") {
  CUcontext context = nullptr, popped = nullptr;
  REQUIRE(api().device_primary_ctx_retain(&context, api().only_device) == CUDA_SUCCESS);
  int pushed = 0;
  while (pushed < 100'000 && api().ctx_push_current(context) == CUDA_SUCCESS) ++pushed;
  CHECK(pushed >= 64);
  CHECK(pushed < 100'000);
  for (int i = 0; i < pushed; ++i) REQUIRE(api().ctx_pop_current(&popped) == CUDA_SUCCESS);
  CHECK(popped == context);
  CHECK(api().ctx_pop_current(&popped) == CUDA_ERROR_INVALID_CONTEXT);
}
