// Kernels with a list of tensors, by every way to launch them: the entries are one parameter, and each has an address
// of its own. Needs NVRTC.
#include <cstring>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "support/engines.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

struct Numbers {
  Numbers(Engine& engine, std::vector<float> given)
      : values(std::move(given)), buffer(*DeviceBuffer::allocate(engine, values.size() * 4)) {
    REQUIRE(buffer.upload(values.data(), values.size() * 4));
  }
  std::vector<float> now() {
    REQUIRE(buffer.download(values.data(), values.size() * 4));
    return values;
  }
  // As one row, between dimensions of one element.
  Tensor tensor() const {
    return Tensor::row_major(buffer.address(), DType::f32, {1, static_cast<std::int64_t>(values.size()), 1});
  }
  std::vector<float> values;
  DeviceBuffer buffer;
};

struct Parts {
  explicit Parts(Engine& engine)
      : a(engine, {1, 2, 3}),
        b(engine, {4, 5}),
        c(engine, {6}),
        other(engine, {7, 8}),
        d(engine, std::vector<float>(6)) {}
  Request request() const {
    return {.kernel = "concat",
            .tensors = {{"S0", a.tensor()}, {"S1", b.tensor()}, {"S2", c.tensor()}, {"D", d.tensor()}}};
  }
  Numbers a, b, c, other, d;
};

}  // namespace

TEST_CASE("a launch takes the entries of a list, and another address for one of them") {
  Engine engine = emulated_engine("sm_90a");
  Parts parts(engine);
  auto launch = engine.prepare(parts.request());
  REQUIRE_MESSAGE(launch, launch.error().text());
  REQUIRE(launch->launch());
  CHECK(parts.d.now() == std::vector<float>{1, 2, 3, 4, 5, 6});
  REQUIRE(launch->rebind("S1", parts.other.buffer.address()));
  REQUIRE(launch->launch());
  CHECK(parts.d.now() == std::vector<float>{1, 2, 3, 7, 8, 6});
  CHECK(!launch->rebind("S3", parts.other.buffer.address()));
}

TEST_CASE("a function takes the entries of a list one by one") {
  Engine engine = emulated_engine("sm_90a");
  Parts parts(engine);
  auto concat = engine.function({.kernel = "concat", .params = {{"PARTS", 3}}});
  REQUIRE_MESSAGE(concat, concat.error().text());
  REQUIRE((*concat)({parts.a.tensor(), parts.b.tensor(), parts.c.tensor(), parts.d.tensor()}));
  CHECK(parts.d.now() == std::vector<float>{1, 2, 3, 4, 5, 6});
  REQUIRE((*concat)({parts.a.tensor(), parts.other.tensor(), parts.c.tensor(), parts.d.tensor()}));
  CHECK(parts.d.now() == std::vector<float>{1, 2, 3, 7, 8, 6});
}
