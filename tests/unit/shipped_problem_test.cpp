// What the library's kernels compute for requests that leave it open: neither another configuration nor another file
// changes it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <tma_jit/engine.h>

namespace tma_jit {
namespace {

Result<Plan> planned(const Request& request, const char* device = "h200") {
  return Engine({.device = Device::known(device), .use_cache = false}).plan(request);
}

// The param's value, or the error.
std::string value(const Result<Plan>& plan, const std::string& param) {
  if (!plan) return plan.error().text();
  for (const auto& [name, value] : plan->config) {
    if (name == param) return fmt::format("{}", value);
  }
  return "absent";
}

bool refused(const Result<Plan>& plan, const std::string& reason) {
  return !plan && plan.error().code == ErrorCode::no_config && plan.error().text().find(reason) != std::string::npos;
}

}  // namespace

TEST_CASE("products of 8-bit floats have whole sums, whatever the tiles that the request pins") {
  const auto product = [](std::map<std::string, std::int64_t> params) {
    return planned({.kernel = "gemm",
                    .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}},
                    .types = {{"T", DType::e4m3}},
                    .params = std::move(params)});
  };
  CHECK(value(product({{"BM", 256}}), "FAST") == "0");
  CHECK(refused(product({{"BM", 256}, {"SWAP", 0}}), "sums of 8-bit floats that are added in f32"));
  CHECK(value(product({{"BM", 256}, {"SWAP", 0}, {"FAST", 1}}), "FAST") == "1");
}

TEST_CASE("rows are quantized with the scales that are usual, or not at all") {
  const auto quantized = [](std::int64_t n, std::map<std::string, std::int64_t> params, const char* file = "") {
    return planned({.kernel = "quantize",
                    .dims = {{"M", 3}, {"N", n}},
                    .types = {{"T", DType::bf16}},
                    .params = std::move(params),
                    .file = file});
  };
  CHECK(value(quantized(5000, {}), "SCALES") == "2");
  CHECK(value(quantized(5000, {{"SCALES", 6}}), "SCALES") == "6");
  CHECK(refused(quantized(INT32_MAX, {}, "quantize"), "PARTS = "));
  CHECK(refused(quantized(INT32_MAX, {}), "SCALES = 2 is not among {6}"));
  CHECK(refused(quantized(5000, {{"LANES", 8}}), "128 columns are some lanes' of a warp"));
  const auto squares = Tensor::row_major(std::uint64_t{256}, DType::f32, {2, 3});
  CHECK(value(planned({.kernel = "quantize",
                       .tensors = {{"X", Tensor::row_major(std::uint64_t{256}, DType::bf16, {200, 384})},
                                   {"Q", Tensor::row_major(std::uint64_t{256}, DType::e4m3, {200, 384})},
                                   {"SCALE", squares}}}),
              "SCALES") == "6");
  CHECK(
      value(planned(
                {.kernel = "quantize", .dims = {{"M", 3}, {"N", 64}}, .types = {{"O", DType::u8}, {"E", DType::e4m3}}}),
            "SCALES") == "5");
}

TEST_CASE("sums are in a fixed order unless the request asks for any order") {
  const auto added = [](std::map<std::string, std::int64_t> params) {
    return planned(
        {.kernel = "scatter_add", .dims = {{"R", 7}, {"N", 64}, {"COUNT", 30}}, .params = std::move(params)});
  };
  CHECK(value(added({}), "ATOMIC") == "0");
  CHECK(refused(added({{"PACKS", 1}}), "sums in a fixed order are those of scatter_add.cu"));
  CHECK(value(added({{"ATOMIC", 1}, {"PACKS", 1}}), "ATOMIC") == "1");
}

TEST_CASE("heads have as many elements on every device, and queries see all keys") {
  for (const char* device : {"a100", "h200", "b200", "rtx5090"}) {
    for (const std::int64_t n : {128, 4096}) {
      const auto plan =
          planned({.kernel = "attention", .dims = {{"HEADS", 2}, {"KV_HEADS", 2}, {"M", n}, {"N", n}}}, device);
      CAPTURE(device);
      CHECK(value(plan, "HD") == "64");
      CHECK(value(plan, "CAUSAL") == "0");
    }
  }
}

TEST_CASE("dimensions are permuted alike, whichever file does it") {
  for (const std::int64_t n : {4, 400}) {
    const auto plan =
        planned({.kernel = "permute", .dims = {{"N0", 1}, {"N1", 1}, {"N2", n}, {"N3", 640}, {"N4", 64}}});
    CHECK(value(plan, "P1") == "3");
    CHECK(value(plan, "P4") == "2");
  }
}

}  // namespace tma_jit
