// Kernels that combine the elements of a row, against their float64 references: rows of a warp, of a block and of a
// cluster, whole and ragged.
#include <map>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

using Numbers = std::map<std::string, std::int64_t>;

using Types = std::map<std::string, DType>;

Types of_types(DType in, DType out) {
  return {{"T", in}, {"O", out}};
}

void check_rows(Engine& engine, const char* kernel, Numbers dims, Types types, const Numbers& params) {
  const Request request{.kernel = kernel, .dims = std::move(dims), .types = std::move(types), .params = params};
  const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
  CHECK_MESSAGE(fault.empty(), fmt::format("{} {} {}\n{}", kernel, request.dims, params, fault));
}

// `out` names the type of the outputs; empty if it is always the same.
void check_shapes(Engine& engine, const char* kernel, const Numbers& params = {}, const std::string& out = "O") {
  const auto types = [&](DType in, DType result) {
    return out.empty() ? Types{{"T", in}} : Types{{"T", in}, {out, result}};
  };
  for (const std::int64_t columns : {1, 16, 31, 64, 96, 101, 128, 512, 1000, 2047, 8192, 10007, 65536})
    check_rows(engine, kernel, {{"M", 77}, {"N", columns}}, types(DType::bf16, DType::bf16), params);
  for (const std::int64_t columns : {0, 3, 128, 4096, 16384, 131072})
    check_rows(engine, kernel, {{"M", 5}, {"N", columns}}, types(DType::f32, DType::f32), params);
  check_rows(engine, kernel, {{"M", 5}, {"N", 250000}}, types(DType::f16, DType::f32), params);
  check_rows(engine, kernel, {{"M", 0}, {"N", 128}}, types(DType::f32, DType::bf16), params);
}

}  // namespace

TEST_CASE("softmax agrees with its reference, whoever shares a row") {
  Engine engine;
  check_shapes(engine, "softmax");
}

TEST_CASE("the logarithm of softmax and the loss of labels agree with their references") {
  Engine engine;
  check_shapes(engine, "log_softmax");
  check_shapes(engine, "cross_entropy", {}, "");
}

TEST_CASE("norms agree with their references, with and without weights, biases and stored sums") {
  Engine engine;
  check_shapes(engine, "rms_norm");
  check_shapes(engine, "rms_norm", {{"WEIGHT", 0}, {"SUM", 1}});
  for (const std::int64_t affine : {0, 1, 2})
    check_shapes(engine, "layer_norm", {{"AFFINE", affine}, {"SUM", affine % 2}});
}

TEST_CASE("rows over which clusters walk agree with their references") {
  Engine engine;
  for (const std::int64_t columns : {65544, 114696, 131072, 131080, 200000, 262144}) {
    for (const std::int64_t sum : {0, 1})
      check_rows(engine, "rms_norm", {{"M", 301}, {"N", columns}}, of_types(DType::bf16, DType::bf16), {{"SUM", sum}});
    check_rows(engine, "rms_norm", {{"M", 131}, {"N", columns}}, of_types(DType::f32, DType::f32), {{"WEIGHT", 0}});
    for (const DType type : {DType::bf16, DType::f32}) {
      check_rows(engine, "softmax", {{"M", 129}, {"N", columns}}, of_types(type, type), {});
      check_rows(engine, "layer_norm", {{"M", 130}, {"N", columns}}, of_types(type, type), {{"AFFINE", 2}});
    }
  }
}

TEST_CASE("groups of channels agree with their reference, whoever shares a group") {
  Engine engine;
  const Types bf16 = {{"T", DType::bf16}, {"O", DType::bf16}}, f32 = {{"T", DType::f32}, {"O", DType::f32}};
  const auto image = [](std::int64_t n, std::int64_t c, std::int64_t s, std::int64_t groups) {
    return Numbers{{"N", n}, {"C", c}, {"S", s}, {"G", groups}};
  };
  for (const std::int64_t size : {1, 3, 7, 49, 77, 196, 1024, 3136, 4099, 65536})
    for (const std::int64_t affine : {0, 1, 2})
      check_rows(engine, "group_norm", image(3, 24, size, 6), size % 2 == 0 ? f32 : bf16, {{"AFFINE", affine}});
  for (const std::int64_t groups : {1, 2, 32}) check_rows(engine, "group_norm", image(2, 64, 12345, groups), bf16, {});
  check_rows(engine, "group_norm", image(1, 8, 1000003, 2), f32, {});
  check_rows(engine, "group_norm", image(1, 8, 1000003, 2), bf16, {{"CLUSTER", 1}});
  for (const Numbers& empty : {image(0, 8, 9, 2), image(3, 0, 9, 2), image(3, 8, 0, 2)})
    check_rows(engine, "group_norm", empty, bf16, {});
}

TEST_CASE("heads are normalised and rotated as by their reference") {
  Engine engine;
  for (const std::int64_t pairs : {0, 1}) {
    for (const std::int64_t norm : {0, 1}) {
      for (const std::int64_t size : {2, 6, 64, 80, 90, 128, 256, 512}) {
        const Numbers dims = {{"M", 77}, {"H", 5}, {"D", size}, {"L", 40}}, params = {{"PAIRS", pairs}, {"NORM", norm}};
        check_rows(engine, "qk_norm_rope", dims, {{"T", DType::bf16}, {"O", DType::bf16}}, params);
        if (size <= 256) check_rows(engine, "qk_norm_rope", dims, {{"T", DType::f32}, {"O", DType::f16}}, params);
      }
    }
  }
  for (const std::int64_t heads : {1, 2, 4})
    check_rows(engine, "qk_norm_rope", {{"M", 3001}, {"H", 5}, {"D", 128}, {"L", 4000}},
               {{"T", DType::bf16}, {"O", DType::bf16}}, {{"HEADS", heads}});
  check_rows(engine, "qk_norm_rope", {{"M", 0}, {"H", 5}, {"D", 64}, {"L", 0}}, {}, {});
}

TEST_CASE("rows that do not fit into registers agree with their references") {
  Engine engine;
  for (const char* kernel : {"softmax", "log_softmax", "rms_norm", "layer_norm", "softmax_backward"}) {
    for (const std::int64_t columns : {262145, 1000000, 3000001})
      check_rows(engine, kernel, {{"M", 3}, {"N", columns}}, {{"T", DType::bf16}, {"O", DType::f32}}, {});
    check_rows(engine, kernel, {{"M", 9}, {"N", 500000}}, {{"T", DType::f32}, {"O", DType::bf16}}, {{"CLUSTER", 1}});
  }
  for (const char* kernel : {"cross_entropy", "cross_entropy_backward"})
    check_rows(engine, kernel, {{"M", 3}, {"N", 1000001}}, {{"T", DType::bf16}}, {});
}

TEST_CASE("rows in 8 bits agree with their references, elements and scales") {
  Engine engine;
  for (const char* kernel : {"quantize", "rms_norm_quantize"}) {
    for (const std::int64_t scales : {0, 1, 2}) {
      for (const std::int64_t columns : {0, 1, 100, 128, 1000, 1001, 4096, 7168, 32768})
        check_rows(engine, kernel, {{"M", 77}, {"N", columns}}, {{"T", DType::bf16}}, {{"SCALES", scales}});
      check_rows(engine, kernel, {{"M", 5}, {"N", 16384}}, {{"T", DType::f32}}, {{"SCALES", scales}});
      check_rows(engine, kernel, {{"M", 0}, {"N", 128}}, {{"T", DType::f16}}, {{"SCALES", scales}});
    }
  }
  check_rows(engine, "quantize", {{"M", 2}, {"N", 3000000}}, {{"T", DType::bf16}}, {{"SCALES", 1}});
  for (const std::int64_t scales : {0, 1}) {
    for (const std::int64_t size : {0, 1, 3, 49, 77, 1024, 3136, 65536})
      check_rows(engine, "group_norm_quantize", {{"N", 3}, {"C", 24}, {"S", size}, {"G", 6}},
                 {{"T", size % 2 == 0 ? DType::f32 : DType::bf16}}, {{"SCALES", scales}});
    check_rows(engine, "group_norm_quantize", {{"N", 1}, {"C", 8}, {"S", 1000003}, {"G", 2}}, {{"T", DType::bf16}},
               {{"SCALES", scales}});
  }
  const Types eight = {{"T", DType::bf16}, {"O", DType::e4m3}, {"E", DType::u8}},
              four = {{"T", DType::bf16}, {"O", DType::u8}, {"E", DType::u8}},
              nv = {{"T", DType::bf16}, {"O", DType::u8}, {"E", DType::e4m3}};
  for (const auto& [scales, types] : {std::pair{3, eight}, {4, four}, {5, nv}}) {
    for (const std::int64_t blocked : {0, 1})
      for (const std::int64_t columns : {0, 1, 37, 128, 1000, 1001, 4096, 7168})
        check_rows(engine, "quantize", {{"M", 77}, {"N", columns}}, types, {{"SCALES", scales}, {"BLOCKED", blocked}});
  }
  for (const std::int64_t columns : {0, 1, 37, 1000, 4096}) {
    const Numbers dims = {{"M", 77}, {"N", columns}};
    for (const std::int64_t scales : {0, 1, 2})
      check_rows(engine, "dequantize", dims, {{"O", DType::bf16}}, {{"SCALES", scales}});
    check_rows(engine, "dequantize", dims, {{"O", DType::f32}, {"T", DType::e4m3}, {"E", DType::u8}}, {{"SCALES", 3}});
    check_rows(engine, "dequantize", dims, {{"O", DType::bf16}, {"T", DType::u8}, {"E", DType::e4m3}}, {{"SCALES", 5}});
  }
}

TEST_CASE("reductions agree with their reference, over rows, columns and whole tensors, by every operation") {
  Engine engine;
  for (const std::int64_t operation : {0, 1, 2, 3, 4}) {
    const Numbers params = {{"OP", operation}};
    const Types f32 = {{"T", DType::f32}, {"O", DType::f32}}, bf16 = {{"T", DType::bf16}, {"O", DType::bf16}};
    for (const std::int64_t extent : {1, 3, 64, 101, 1000, 4096, 20011, 300000})
      check_rows(engine, "reduce", {{"M", 77}, {"K", extent}, {"N", 1}}, extent % 2 == 0 ? f32 : bf16, params);
    for (const std::int64_t extent : {1, 3, 8, 33, 64, 256, 1000, 4096})
      check_rows(engine, "reduce", {{"M", 2}, {"K", 3001}, {"N", extent}}, extent % 2 == 0 ? bf16 : f32, params);
    check_rows(engine, "reduce", {{"M", 1}, {"K", 50000001}, {"N", 1}}, f32, params);
    check_rows(engine, "reduce", {{"M", 513}, {"K", 7}, {"N", 72}}, bf16, params);
  }
  check_rows(engine, "reduce", {{"M", 3}, {"K", 0}, {"N", 5}}, {{"T", DType::f16}, {"O", DType::f32}}, {});
}

TEST_CASE("scans agree with their reference, of rows in registers and of rows that blocks share") {
  Engine engine;
  for (const std::int64_t exclusive : {0, 1}) {
    check_shapes(engine, "scan", {{"EXCLUSIVE", exclusive}});
    for (const std::int64_t columns : {1, 101, 1000, 4096, 20011, 300000})
      check_rows(engine, "scan", {{"M", 77}, {"N", columns}}, {{"T", DType::bf16}, {"O", DType::f32}},
                 {{"EXCLUSIVE", exclusive}, {"SEGMENTED", 1}});
  }
  for (const std::int64_t columns : {30000, 5000001})
    for (const std::int64_t bytes : {8, 16})
      check_rows(engine, "scan", {{"M", 3}, {"N", columns}}, {{"T", DType::bf16}, {"O", DType::f32}},
                 {{"BYTES", bytes}, {"PACKS", 4}, {"BLOCKS", 3}});
  for (const std::int64_t operation : {0, 2, 3})
    check_rows(engine, "scan", {{"M", 1}, {"N", 50000001}}, {{"T", DType::f32}, {"O", DType::f32}},
               {{"OP", operation}});
  for (const std::int64_t columns : {1, 100, 3001, 300000, 50000001})
    check_rows(engine, "scan", {{"M", 3}, {"N", columns}}, {{"T", DType::s32}, {"O", DType::s32}}, {});
  check_rows(engine, "scan", {{"M", 700}, {"N", 50000}}, {{"T", DType::f16}, {"O", DType::f16}}, {});
}

TEST_CASE("the greatest elements of rows agree with their references, indices exactly") {
  Engine engine;
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const std::int64_t columns : {1, 7, 64, 101, 500, 4096, 20011, 129280, 3000001})
      check_rows(engine, "argmax", {{"M", 5}, {"K", columns}}, {{"T", type}, {"J", DType::s64}}, {});
    for (const std::int64_t columns : {64, 101, 2049, 20011, 129280})
      for (const std::int64_t count : {1, 8, 64})
        check_rows(engine, "top_k", {{"M", 3}, {"N", columns}, {"K", count}}, {{"T", type}, {"J", DType::s32}}, {});
  }
  check_rows(engine, "top_k", {{"M", 700}, {"N", 5000}, {"K", 50}}, {{"T", DType::bf16}, {"J", DType::s64}}, {});
  for (const std::int64_t columns : {8, 60, 256, 1001})
    check_rows(engine, "top_k", {{"M", 5000}, {"N", columns}, {"K", 8}}, {{"T", DType::bf16}, {"J", DType::s32}}, {});
}

TEST_CASE("tokens are drawn as the reference draws them, whoever shares a row") {
  Engine engine;
  const auto draw = [&](const Numbers& dims, DType type, const std::map<std::string, double>& scalars,
                        Numbers params = {}) {
    params["LOGS"] = 1;
    Request request{.kernel = "sample", .dims = dims, .types = {{"T", type}, {"J", DType::s32}}, .params = params};
    for (const auto& [name, value] : scalars) request.scalars[name] = value;
    const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 2);
    CHECK_MESSAGE(fault.empty(), fmt::format("sample {} {}\n{}", request.dims, params, fault));
  };
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const std::int64_t columns : {0, 1, 33, 1000, 2049, 10007, 32000, 129280}) {
      draw({{"M", 5}, {"N", columns}}, type, {{"seed", 7}});
      draw({{"M", 5}, {"N", columns}}, type, {{"temperature", 0}});
      draw({{"M", 5}, {"N", columns}}, type, {{"temperature", 0.8}, {"top_k", 50}, {"top_p", 0.95}, {"offset", 3}});
      draw({{"M", 150}, {"N", columns}}, type, {{"top_p", 0.9}});
    }
  }
  draw({{"M", 2}, {"N", 1000003}}, DType::f32, {{"top_p", 0.9}});
  draw({{"M", 2}, {"N", 1000003}}, DType::bf16, {{"top_k", 1000}}, {{"CLUSTER", 1}});
}

TEST_CASE("gradients of scores agree with their references") {
  Engine engine;
  for (const std::int64_t columns : {0, 1, 16, 101, 512, 2047, 8192, 65536}) {
    check_rows(engine, "softmax_backward", {{"M", 77}, {"N", columns}}, {{"T", DType::bf16}, {"O", DType::bf16}}, {});
    check_rows(engine, "cross_entropy_backward", {{"M", 77}, {"N", columns}}, {{"T", DType::bf16}}, {});
  }
}

TEST_CASE("gradients of norms agree with their references, where blocks walk few rows and many") {
  Engine engine;
  for (const DType type : {DType::bf16, DType::f32}) {
    // One or two columns have no gradient but for eps: terms of 1 cancel, of which f32 leaves few digits.
    for (const std::int64_t columns : {7, 16, 101, 512, 1000, 4096}) {
      for (const std::int64_t rows : {0, 1, 77, 3000}) {
        const Numbers dims = {{"M", rows}, {"N", columns}};
        check_rows(engine, "rms_norm_backward", dims, {{"T", type}}, {});
        check_rows(engine, "layer_norm_backward", dims, {{"T", type}}, {});
      }
    }
  }
  for (const DType type : {DType::bf16, DType::f32}) {
    for (const std::int64_t columns : {16384, 20003, 32768, 65536, 131072}) {
      const Numbers dims = {{"M", 300}, {"N", columns}};
      check_rows(engine, "rms_norm_backward", dims, {{"T", type}}, {});
      check_rows(engine, "layer_norm_backward", dims, {{"T", type}}, {});
    }
  }
  check_rows(engine, "rms_norm_backward", {{"M", 77}, {"N", 1000}}, {{"T", DType::f16}}, {{"WEIGHT", 0}});
  check_rows(engine, "layer_norm_backward", {{"M", 77}, {"N", 1000}}, {{"T", DType::f16}}, {{"AFFINE", 0}});
}

TEST_CASE("gradients of groups of channels agree with their reference, whoever shares a group") {
  Engine engine;
  const auto image = [](std::int64_t n, std::int64_t c, std::int64_t s, std::int64_t groups) {
    return Numbers{{"N", n}, {"C", c}, {"S", s}, {"G", groups}};
  };
  for (const DType type : {DType::bf16, DType::f32}) {
    for (const std::int64_t size : {3, 49, 77, 64, 256, 1024, 3136, 4096, 65536, 300000})
      check_rows(engine, "group_norm_backward", image(3, 24, size, 6), {{"T", type}}, {});
    check_rows(engine, "group_norm_backward", image(70, 40, 100, 4), {{"T", type}}, {});
    check_rows(engine, "group_norm_backward", image(2, 8, 1000000, 2), {{"T", type}}, {{"AFFINE", 1}});
  }
  check_rows(engine, "group_norm_backward", image(5, 64, 1234, 2), {{"T", DType::f16}}, {{"AFFINE", 0}});
  for (const Numbers& empty : {image(0, 8, 9, 2), image(3, 0, 9, 2), image(3, 8, 0, 2)})
    check_rows(engine, "group_norm_backward", empty, {}, {});
}

}  // namespace tma_jit
