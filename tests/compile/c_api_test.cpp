// The C API over a fake driver: what reaches the driver, and exceptions that must not reach the caller.
#include "c_api/c_handles.h"

#include <stdexcept>

#include <doctest/doctest.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"

namespace tma_jit {

using namespace testing;

namespace {

void require_ok(tma_jit_status status, tma_jit_error* error) {
  REQUIRE_MESSAGE(status == TMA_JIT_OK, tma_jit_error_text(error));
  REQUIRE(error == nullptr);
}

tma_jit_tensor vector_of(std::uint64_t address, std::int64_t n) {
  tma_jit_tensor tensor{};
  tma_jit_error* error = nullptr;
  require_ok(tma_jit_tensor_row_major(address, TMA_JIT_F32, 1, &n, &tensor, &error), error);
  return tensor;
}

// A fake H100 with the C API's engine on it.
struct Bench {
  FakeDriver fake;
  TestLog log;
  tma_jit_engine engine{engine_with({.use_cache = false, .log = log.callback()}, fake.provider())};
  tma_jit_error* error = nullptr;

  Bench() {
    fake.api().kernel_get_param_info = nullptr;
    fake.argument_sizes = {16, 16, 8, 4, 4};
    require_ok(tma_jit_engine_add_template(&engine, "scale.cu", kScale.c_str(), &error), error);
  }
  std::unique_ptr<tma_jit_request> request() {
    tma_jit_request* made = nullptr;
    require_ok(tma_jit_request_create("scale", &made, &error), error);
    return std::unique_ptr<tma_jit_request>(made);
  }
  std::uint64_t address_in_launch(std::size_t launch, std::size_t argument) const {
    std::uint64_t address = 0;
    std::memcpy(&address, fake.launches().at(launch).arguments.at(argument).data(), sizeof address);
    return address;
  }
};

}  // namespace

TEST_CASE("a launch through the C API reaches the driver with its stream, and goes on after its engine") {
  Bench bench;
  const auto request = bench.request();
  const tma_jit_tensor x = vector_of(0x10000, 1000);
  const tma_jit_tensor y = vector_of(0x20000, 1000);
  require_ok(tma_jit_request_tensor(request.get(), "X", &x, &bench.error), bench.error);
  require_ok(tma_jit_request_tensor(request.get(), "Y", &y, &bench.error), bench.error);
  tma_jit_launch* launch = nullptr;
  require_ok(tma_jit_prepare(&bench.engine, request.get(), &launch, &bench.error), bench.error);
  const auto stream = reinterpret_cast<tma_jit_stream>(std::uintptr_t{0x77});
  require_ok(tma_jit_launch_run(launch, stream, &bench.error), bench.error);
  require_ok(tma_jit_launch_rebind(launch, "Y", 0x30000, &bench.error), bench.error);
  require_ok(tma_jit_launch_run(launch, nullptr, &bench.error), bench.error);
  REQUIRE(bench.fake.launches().size() == 2);
  CHECK(bench.fake.launches()[0].config.hStream == stream);
  CHECK(bench.fake.launches()[1].config.hStream == nullptr);
  CHECK(bench.address_in_launch(0, 1) == 0x20000);
  CHECK(bench.address_in_launch(1, 1) == 0x30000);
  CHECK(std::string(tma_jit_plan_kernel(tma_jit_launch_plan(launch))) == "scale");
  std::size_t bytes = 0;
  CHECK(tma_jit_artifact_data(tma_jit_launch_artifact(launch), &bytes) != nullptr);
  CHECK(bytes > 0);
  bench.fake.fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED);
  CHECK(tma_jit_launch_run(launch, nullptr, &bench.error) == TMA_JIT_DRIVER);
  CHECK(std::string(tma_jit_error_message(bench.error)).find("cuLaunchKernelEx(scale") == 0);
  tma_jit_error_free(bench.error);
  tma_jit_launch_free(launch);
}

TEST_CASE("a function through the C API takes tensors in order and prepares each shape once") {
  Bench bench;
  const auto request = bench.request();
  tma_jit_function* function = nullptr;
  require_ok(tma_jit_function_create(&bench.engine, request.get(), &function, &bench.error), bench.error);
  for (const std::int64_t n : {100, 200, 100}) {
    const tma_jit_tensor tensors[] = {vector_of(0x10000, n), vector_of(0x20000, n)};
    require_ok(tma_jit_function_call(function, tensors, 2, nullptr, &bench.error), bench.error);
  }
  CHECK(bench.fake.launches().size() == 3);
  tma_jit_stats stats{};
  stats.size = sizeof stats;
  require_ok(tma_jit_engine_stats(&bench.engine, &stats, &bench.error), bench.error);
  CHECK(stats.plans == 2);
  CHECK(stats.loads == 1);
  const tma_jit_tensor unbound[] = {vector_of(0, 100), vector_of(0x20000, 100)};
  CHECK(tma_jit_function_call(function, unbound, 2, nullptr, &bench.error) == TMA_JIT_INVALID_ARGUMENT);
  CHECK(std::string(tma_jit_error_message(bench.error)) == "scale: the address of X is null");
  tma_jit_error_free(bench.error);
  tma_jit_function_free(function);
}

TEST_CASE("buffers and measurements through the C API") {
  Bench bench;
  tma_jit_buffer* buffer = nullptr;
  require_ok(tma_jit_buffer_create(&bench.engine, 64, &buffer, &bench.error), bench.error);
  const int sent[] = {1, 2, 3};
  int received[] = {0, 0, 0};
  require_ok(tma_jit_buffer_upload(buffer, sent, sizeof sent, 16, &bench.error), bench.error);
  require_ok(tma_jit_buffer_download(buffer, received, sizeof received, 16, &bench.error), bench.error);
  CHECK(received[2] == 3);
  CHECK(tma_jit_buffer_upload(buffer, sent, sizeof sent, 60, nullptr) == TMA_JIT_INVALID_ARGUMENT);
  tma_jit_buffer_free(buffer);
  CHECK(bench.fake.allocated() == 0);
}

TEST_CASE("exceptions of what the library calls end as a status") {
  const auto status_after = [](auto thrown, std::string& text) {
    tma_jit_engine engine{engine_with({.use_cache = false}, [thrown]() -> Result<driver::SharedApi> { throw thrown; })};
    tma_jit_error* error = nullptr;
    tma_jit_device_info info{};
    info.size = sizeof info;
    const tma_jit_status status = tma_jit_engine_device(&engine, &info, &error);
    text = tma_jit_error_text(error);
    CHECK(tma_jit_error_code(error) == status);
    tma_jit_error_free(error);
    return status;
  };
  std::string text;
  CHECK(status_after(std::bad_alloc(), text) == TMA_JIT_NO_MEMORY);
  CHECK(text == "no_memory: the host has no memory left");
  CHECK(status_after(std::runtime_error("a defect"), text) == TMA_JIT_INTERNAL);
  CHECK(text == "internal: a defect");
  CHECK(status_after(42, text) == TMA_JIT_INTERNAL);
}

}  // namespace tma_jit
