// What an engine does while a stream captures a graph: nothing that breaks the capture.
#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <vector>

#include <doctest/doctest.h>

#include "support/engines.h"
#include "support/fake_driver.h"
#include "support/templates.h"
#include "support/temporary_folder.h"

namespace tma_jit {

using namespace testing;

namespace {

Tensor vector_at(std::uint64_t address, std::int64_t n) {
  return Tensor::row_major(address, DType::f32, {n});
}

}  // namespace

TEST_CASE("loading, workspaces, rebinding and new shapes while a stream captures break no capture") {
  FakeDriver fake;
  fake.api().kernel_get_param_info = nullptr;
  TemporaryFolder folder;
  Options options;
  options.cache_dir = folder.path() / "cache";
  Engine engine = engine_with(options, fake.provider());
  REQUIRE(engine.add_template("scale.cu", kScale));
  REQUIRE(engine.device());
  fake.capturing = true;
  {
    auto launch =
        engine.prepare({.kernel = "scale", .tensors = {{"X", vector_at(0x10000, 64)}, {"Y", vector_at(0x20000, 64)}}});
    REQUIRE_MESSAGE(launch, launch.error().text());
    CHECK(launch->rebind("Y", std::uint64_t{0x30000}));
    CHECK(launch->launch());
    auto function = engine.function({.kernel = "scale"});
    REQUIRE(function);
    for (const std::int64_t n : {64, 128}) CHECK((*function)({vector_at(0x10000, n), vector_at(0x20000, n)}));
  }
  CHECK(!fake.capture_broken);
  CHECK(fake.count("cuLibraryLoadData") == 1);
  CHECK(FakeDriver::capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE("copies and fills are refused where the default stream's work would break a capture, and nothing is tried") {
  FakeDriver fake;
  Engine engine = engine_with(Options{}, fake.provider());
  auto buffer = DeviceBuffer::allocate(engine, 64);
  REQUIRE(buffer);
  std::vector<std::byte> bytes(64);
  fake.capturing = true;
  fake.capturing_stream_waits = true;
  for (const auto& refused : {buffer->upload(bytes.data(), 64), buffer->download(bytes.data(), 64), buffer->fill(0)}) {
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::driver);
    CHECK(refused.error().message.find("capturing a graph") != std::string::npos);
  }
  CHECK(fake.count("cuMemcpyHtoD") + fake.count("cuMemcpyDtoH") + fake.count("cuMemsetD8Async") == 0);
  fake.capturing_stream_waits = false;
  CHECK(buffer->upload(bytes.data(), 64));
  CHECK(!fake.capture_broken);
}

}  // namespace tma_jit
