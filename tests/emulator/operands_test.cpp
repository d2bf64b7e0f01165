// Hooks that read tensors and scalars, in every kernel with hooks, against its float64 reference. Needs NVRTC.
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "support/combinations.h"
#include "support/engines.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// A device tensor of small integers, which every type represents exactly, as it does their sums.
struct Data {
  Data(Engine& engine, DType type, std::vector<std::int64_t> shape, std::int64_t pitch, int seed)
      : dtype(type),
        extents(std::move(shape)),
        row(pitch),
        bytes(static_cast<std::size_t>((extents.size() == 2 ? extents[0] * pitch : extents[0]) *
                                       static_cast<std::int64_t>(size_of(type)))),
        buffer(*DeviceBuffer::allocate(engine, bytes.size())) {
    for (std::size_t i = 0; i < bytes.size() / size_of(type); ++i) {
      put(i,
          static_cast<float>(static_cast<int>((i * 2654435761U + static_cast<std::size_t>(seed) * 977U) >> 7 & 7) - 3));
    }
    REQUIRE(buffer.upload(bytes.data(), bytes.size()));
  }
  void put(std::size_t i, float value) {
    if (dtype == DType::f64) {
      const double wide = value;
      std::memcpy(&bytes[i * 8], &wide, 8);
    } else if (dtype == DType::f32) {
      std::memcpy(&bytes[i * 4], &value, 4);
    } else {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, 4);
      const auto upper = static_cast<std::uint16_t>(bits >> 16);
      std::memcpy(&bytes[i * 2], &upper, 2);
    }
  }
  double at(std::int64_t r, std::int64_t c) {
    const auto i = static_cast<std::size_t>(r * row + c);
    float narrow = 0;
    double wide = 0;
    if (dtype == DType::f64) {
      std::memcpy(&wide, &bytes[i * 8], 8);
      return wide;
    }
    std::memcpy(&narrow, &bytes[i * 4], 4);
    return narrow;
  }
  Tensor tensor() const {
    return extents.size() == 2 ? Tensor::strided(buffer.address(), dtype, {extents[0], extents[1]}, {row, 1})
                               : Tensor::row_major(buffer.address(), dtype, {extents[0]});
  }
  DType dtype;
  std::vector<std::int64_t> extents;
  std::int64_t row;
  std::vector<std::byte> bytes;
  DeviceBuffer buffer;
};

void run(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const auto done = launch->launch();
  REQUIRE_MESSAGE(done, done.error().text());
}

// Runs the request and its reference with the same configuration and compares `output`, of f32, within `tolerance`.
void check(Engine& engine, Request request, const std::string& output, Data& made, double tolerance) {
  request.tensors.push_back({output, made.tensor()});
  const auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, plan.error().text());
  run(engine, request);
  Request reference = request;
  Data expected(engine, DType::f64, made.extents, made.row, 0);
  reference.tensors.back().tensor = expected.tensor();
  reference.reference = true;
  for (const auto& [name, value] : plan->config) reference.params[name] = value;
  run(engine, reference);
  REQUIRE(made.buffer.download(made.bytes.data(), made.bytes.size()));
  REQUIRE(expected.buffer.download(expected.bytes.data(), expected.bytes.size()));
  int wrong = 0;
  for (std::int64_t r = 0; r < made.extents[0]; ++r) {
    for (std::int64_t c = 0; c < made.extents[1]; ++c) {
      const double want = expected.at(r, c);
      if (std::abs(made.at(r, c) - want) <= tolerance * (1 + std::abs(want))) continue;
      if (++wrong == 1) FAIL_CHECK(output << "[" << r << ", " << c << "] is " << made.at(r, c) << ", not " << want);
    }
  }
  CHECK(wrong == 0);
}

constexpr std::int64_t kM = 77, kN = 91, kK = 40;

// The operands of hooks; x is the kernel's result.
struct Epilogue {
  std::string text;
  std::vector<std::string> operands;
};

std::vector<Epilogue> epilogues(const std::string& x) {
  return {{"fmaxf(" + x + " + bias[column], 0)", {"bias : f32[N]"}},
          {x + " * row_scale[row] + alpha", {"row_scale : bf16[M]", "alpha : f32 = 0.5"}},
          {x + " / (1 + exp(-" + x + ")) * up[row, column]", {"up : bf16[M, N]"}},
          {x + " + one[row, column] + bias[row, column]", {"one : f32[1, 1]", "bias : f32[1, N]"}},
          {x + " * row_scale[row] + bias[column] - up[ row , column ] * one[row, column]",
           {"row_scale : bf16[M]", "bias : f32[N]", "up : bf16[M, N]", "one : f32[1, 1]"}},
          {x + " + bias[column ^ 1] + bias[column]", {"bias : f32[N]"}}};
}

struct Operands {
  explicit Operands(Engine& engine, std::int64_t columns = kN)
      : bias(engine, DType::f32, {columns}, 1, 5),
        row_scale(engine, DType::bf16, {kM}, 1, 6),
        up(engine, DType::bf16, {kM, columns}, columns + 2, 7),
        one(engine, DType::f32, {1, 1}, 1, 8) {}
  void add(const Epilogue& epilogue, Request& request) const {
    request.operands = epilogue.operands;
    for (const std::string& declaration : epilogue.operands) {
      const std::string name = declaration.substr(0, declaration.find(' '));
      if (name == "row_scale") request.tensors.push_back({name, row_scale.tensor()});
      if (name == "up") request.tensors.push_back({name, up.tensor()});
      if (name == "one") request.tensors.push_back({name, one.tensor()});
      if (declaration == "bias : f32[N]") request.tensors.push_back({name, bias.tensor()});
      if (declaration == "bias : f32[1, N]")
        request.tensors.push_back({name, Tensor::row_major(bias.buffer.address(), DType::f32, {1, bias.extents[0]})});
    }
  }
  Data bias, row_scale, up, one;
};

void check_gemm(const std::string& arch, const std::string& file,
                const std::map<std::string, std::int64_t>& params = {}) {
  CAPTURE(arch);
  CAPTURE(file);
  Engine engine = emulated_engine(arch);
  const Data a(engine, DType::bf16, {kM, kK}, kK, 1);
  std::size_t first = 0;
  for (const std::int64_t columns : {kN, kN - 1}) {  // the even one has pairs of elements at multiples of their bytes
    std::size_t cell = first++;
    CAPTURE(columns);
    const Data b(engine, DType::bf16, {columns, kK}, kK, 2);
    const Operands operands(engine, columns);
    for (const Epilogue& epilogue : epilogues("x")) {
      if (!takes(cell++)) continue;
      CAPTURE(epilogue.text);
      Request request{.kernel = "gemm",
                      .tensors = {{"A", a.tensor()}, {"B", b.tensor()}},
                      .params = params,
                      .hooks = {{"epilogue", epilogue.text}},
                      .file = file};
      operands.add(epilogue, request);
      Data d(engine, DType::f32, {kM, columns}, 92, 3);
      check(engine, request, "D", d, 1e-5);
    }
  }
}

std::string without_guard(const std::string& guard, const std::string& instead) {
  std::ifstream file(TMA_JIT_SOURCE_DIR "/templates/device/tile/operand.cuh");
  std::stringstream whole;
  whole << file.rdbuf();
  std::string text = whole.str();
  const std::size_t at = text.find(guard);
  REQUIRE(at != std::string::npos);
  return text.replace(at, guard.size(), instead);
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Every gemm reads operands by the right row and column, and its last tiles none beyond them") {
  check_gemm("sm_90a", "gemm_wgmma", {{"BM", 128}, {"BN", 64}});
  check_gemm("sm_90a", "gemm_wgmma", {{"BM", 128}, {"BN", 128}, {"PINGPONG", 1}});
  check_gemm("sm_90a", "gemm_wgmma_split");
  check_gemm("sm_90a", "gemm_wgmma_split", {{"BM", 64}, {"BN", 64}, {"SPLIT", 4}, {"STAGES", 6}});
  check_gemm("sm_100a", "gemm_tcgen05");
  check_gemm("sm_121a", "gemm_mma");
  check_gemm("sm_121a", "gemm_mma_cp_async");
}

TEST_CASE("a residual may be D itself, whose last rows are read and written by one thread each") {
  struct Config {
    const char *arch, *file;
    std::map<std::string, std::int64_t> params;
  };
  const Config configs[] = {{"sm_90a", "gemm_wgmma", {{"BM", 128}, {"BN", 128}}},
                            {"sm_90a", "gemm_wgmma", {{"BM", 192}, {"BN", 128}}},
                            {"sm_90a", "gemm_wgmma", {{"BM", 256}, {"BN", 128}}},
                            {"sm_90a", "gemm_wgmma", {{"BM", 128}, {"BN", 128}, {"PINGPONG", 1}}},
                            {"sm_90a", "gemm_wgmma_split", {}},
                            {"sm_100a", "gemm_tcgen05", {}},
                            {"sm_121a", "gemm_mma", {}},
                            {"sm_121a", "gemm_mma_cp_async", {}}};
  for (const Config& config : configs) {
    CAPTURE(config.file);
    Engine engine = emulated_engine(config.arch);
    for (const std::int64_t rows : {5, 63, 77, 130}) {
      CAPTURE(rows);
      const Data a(engine, DType::bf16, {rows, kK}, kK, 1), b(engine, DType::bf16, {kN, kK}, kK, 2);
      Data d(engine, DType::f32, {rows, kN}, 92, 3), apart(engine, DType::f32, {rows, kN}, 92, 4);
      Request request{.kernel = "gemm",
                      .tensors = {{"A", a.tensor()}, {"B", b.tensor()}, {"D", apart.tensor()}, {"r", d.tensor()}},
                      .params = config.params,
                      .hooks = {{"epilogue", "x + r[row, column]"}},
                      .operands = {"r : f32[M, N]"},
                      .file = config.file};
      run(engine, request);
      request.tensors[2].tensor = d.tensor();
      run(engine, request);
      REQUIRE(apart.buffer.download(apart.bytes.data(), apart.bytes.size()));
      REQUIRE(d.buffer.download(d.bytes.data(), d.bytes.size()));
      int wrong = 0;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < kN; ++c) wrong += d.at(r, c) != apart.at(r, c) ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("map and softmax read operands") {
  std::size_t first = 0;
  for (const std::string arch : {"sm_90a", "sm_121a"}) {
    std::size_t cell = first++;
    CAPTURE(arch);
    Engine engine = emulated_engine(arch);
    const Data from(engine, DType::f32, {kM, kN}, 92, 1);
    const Operands operands(engine);
    for (const Epilogue& epilogue : epilogues("a")) {
      if (!takes(cell++)) continue;
      CAPTURE(epilogue.text);
      Request request{.kernel = "map",
                      .tensors = {{"A", from.tensor()}},
                      .params = {{"INPUTS", 1}},
                      .hooks = {{"apply", epilogue.text}}};
      operands.add(epilogue, request);
      Data y(engine, DType::f32, {kM, kN}, 92, 3);
      check(engine, request, "Y", y, 1e-5);
    }
    for (const Epilogue& epilogue : epilogues("x")) {
      if (!takes(cell++)) continue;
      CAPTURE(epilogue.text);
      Request request{.kernel = "softmax", .tensors = {{"S", from.tensor()}}, .hooks = {{"score", epilogue.text}}};
      operands.add(epilogue, request);
      Data d(engine, DType::f32, {kM, kN}, kN, 3);
      check(engine, request, "D", d, 1e-4);
    }
  }
}

TEST_CASE("map of one dimension gives its hook the element's index, in f64 too") {
  Engine engine = emulated_engine("sm_90a");
  const Data a(engine, DType::f64, {5003}, 1, 1), weight(engine, DType::bf16, {5003}, 1, 2);
  Data y(engine, DType::f64, {5003}, 1, 3);
  Request request{.kernel = "map",
                  .tensors = {{"A", a.tensor()}, {"Y", y.tensor()}, {"w", weight.tensor()}},
                  .types = {{"F", DType::f64}},
                  .params = {{"INPUTS", 1}},
                  .scalars = {{"third", 1.0 / 3}},
                  .hooks = {{"apply", "a * w[i] * third + w[i + 1]"}},
                  .operands = {"w : bf16[N]", "third : f64"}};
  run(engine, request);
  REQUIRE(y.buffer.download(y.bytes.data(), y.bytes.size()));
  const auto weight_at = [&](std::size_t i) {
    if (i >= 5003) return 0.0;
    std::uint32_t bits = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&bits) + 2, &weight.bytes[i * 2], 2);
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return static_cast<double>(value);
  };
  for (std::size_t i = 0; i < 5003; ++i) {
    double x = 0;
    std::memcpy(&x, &a.bytes[i * 8], 8);
    const double want = x * weight_at(i) / 3 + weight_at(i + 1);
    REQUIRE(std::abs(y.at(0, static_cast<std::int64_t>(i)) - want) < 1e-13);
  }
}

TEST_CASE("another value or address of an operand is no other kernel") {
  Engine engine = emulated_engine("sm_90a");
  const Data from(engine, DType::f32, {kM, kN}, 92, 1), first(engine, DType::f32, {kN}, 1, 2),
      second(engine, DType::f32, {kN}, 1, 3);
  Data y(engine, DType::f32, {kM, kN}, 92, 4);
  Request request{.kernel = "map",
                  .tensors = {{"A", from.tensor()}, {"Y", y.tensor()}, {"bias", first.tensor()}},
                  .params = {{"INPUTS", 1}},
                  .scalars = {{"alpha", 2.0}},
                  .hooks = {{"apply", "bias[column] + alpha"}},
                  .operands = {"bias : f32[N]", "alpha : f32"}};
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch, launch.error().text());
  const Key key = launch->artifact().key;
  const auto compiles = engine.stats().compiles;
  const auto value = [](const Data& bias, std::size_t i) {
    float number = 0;
    std::memcpy(&number, &bias.bytes[i * 4], 4);
    return static_cast<double>(number);
  };
  const auto check_row = [&](const Data& bias, double alpha) {
    REQUIRE(y.buffer.download(y.bytes.data(), y.bytes.size()));
    for (std::size_t c = 0; c < kN; ++c) REQUIRE(y.at(3, static_cast<std::int64_t>(c)) == value(bias, c) + alpha);
  };
  REQUIRE(launch->launch());
  check_row(first, 2);
  REQUIRE(launch->rebind("bias", second.buffer.address()));
  REQUIRE(launch->launch());
  check_row(second, 2);
  request.scalars["alpha"] = 5.0;
  auto other = engine.prepare(request);
  REQUIRE_MESSAGE(other, other.error().text());
  CHECK(other->artifact().key == key);
  REQUIRE(other->launch());
  check_row(first, 5);
  CHECK(engine.stats().compiles == compiles);

  Request open = request;
  open.tensors.clear();
  auto function = engine.function(open);
  REQUIRE_MESSAGE(function, function.error().text());
  const auto called = (*function)({from.tensor(), {}, {}, {}, y.tensor(), second.tensor()});
  REQUIRE_MESSAGE(called, called.error().text());
  check_row(second, 5);
  const auto again = (*function)({from.tensor(), {}, {}, {}, y.tensor(), first.tensor()});
  REQUIRE_MESSAGE(again, again.error().text());
  check_row(first, 5);
  CHECK(engine.stats().compiles == compiles);
}

TEST_CASE("an operand without its guard is reported as read out of bounds") {
  struct Guard {
    const char *text, *without, *hook;
    std::int64_t columns;
  };
  const Guard guards[] = {
      {"return inside ? value(*at) : Value{};", "return value(*at);", "x + b[column + 0]", kN},
      {"return static_cast<u32>(index) < of.count ? of.data[step(index, Rank - 1)] : T{};",
       "return of.data[step(index, Rank - 1)];", "x + b[column]", kN},
      {"if (static_cast<u32>(index) >= of.count) return Two<T>::of(T{}, T{});", "", "x + b[column]", kN - 1}};
  for (const Guard& guard : guards) {
    CAPTURE(guard.text);
    Engine engine = emulated_engine("sm_90a");
    REQUIRE(engine.add_template("device/tile/operand.cuh", without_guard(guard.text, guard.without)));
    const Data a(engine, DType::bf16, {kM, kK}, kK, 1), b(engine, DType::bf16, {guard.columns, kK}, kK, 2);
    const Data d(engine, DType::f32, {kM, guard.columns}, 92, 3), bias(engine, DType::f32, {guard.columns}, 1, 4);
    auto launch =
        engine.prepare({.kernel = "gemm",
                        .tensors = {{"A", a.tensor()}, {"B", b.tensor()}, {"D", d.tensor()}, {"b", bias.tensor()}},
                        .params = {{"BM", 128}, {"BN", 128}},
                        .hooks = {{"epilogue", guard.hook}},
                        .operands = {"b : f32[N]"},
                        .file = "gemm_wgmma"});
    REQUIRE_MESSAGE(launch, launch.error().text());
    const auto done = launch->launch();
    REQUIRE_FALSE(done);
    CHECK_MESSAGE(done.error().text().find("global") != std::string::npos, done.error().text());
  }
}

TEST_SUITE_END();
