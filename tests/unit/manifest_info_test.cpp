// The declarations of a template as values of the public API.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("the information for list and show") {
  const KernelInfo info = kernel_info(parsed(kFull));
  CHECK(info.kernel == "demo");
  CHECK(info.file == "k.cu");
  CHECK_FALSE(info.embedded);
  CHECK(info.reference.has_value());
  CHECK(info.params[1].name == "STAGES");
  CHECK(info.params[1].declaration == "STAGES = 3 in 2..8");
  CHECK(info.rules[0].declaration == "K * sizeof(T) % 16 == 0");
  CHECK(info.rules[0].doc == "rows must be aligned");
  CHECK(info.presets[1].declaration == "BM = 192");
  CHECK(info.dims.size() == 4);
}

TEST_CASE("declarations as values") {
  const KernelInfo info = kernel_info(parsed(R"(//! kernel k
//! arch sm_90a
//! type T = bf16 in {bf16, f16}
//! dim M in 0..100
//! dim H = 64
//! param P = 2 in {1, 2}
//! param Q = 1 in 1..3 "how"
//! let R = P * M
//! tensor A : T[M, H] box [R, H] swizzle 128 when R + sizeof(T) >= 2
//! tensor B : f32[M] out
//! scalar alpha : f32 = 0.5
//! workspace w R * 4 zero
//! hook f(f32 a, T b when Q >= 2) : f32 = a
//! launch grid R block 32 smem 64
//! work flops M
//! preset P = 1, Q = 3 when M > 8 "doc"
)"));
  CHECK(info.types[0].default_type == DType::bf16);
  CHECK(info.types[0].choices == std::vector<DType>{DType::bf16, DType::f16});
  CHECK((info.dims[0].least == 0 && info.dims[0].most == 100 && !info.dims[0].value));
  CHECK(info.dims[1].value == 64);
  CHECK((info.params[1].default_value == 1 && info.params[1].values == std::vector<std::int64_t>{1, 2, 3}));
  CHECK(info.params[1].doc == "how");
  CHECK(info.params[1].line == 7);
  const KernelInfo::Tensor& a = info.tensors[0];
  CHECK((a.type == "T" && a.shape.size() == 2 && a.shape[0].text == "M" && a.box[0].text == "R" && !a.output));
  CHECK(a.swizzle->text == "128");
  CHECK(a.when->text == "R + sizeof(T) >= 2");
  CHECK(a.when->names == std::vector<std::string>{"R", "T"});
  CHECK(a.when->params == std::vector<std::string>{"P"});
  CHECK((info.tensors[1].type == "f32" && info.tensors[1].box.empty() && info.tensors[1].output));
  CHECK(std::get<double>(*info.scalars[0].default_value) == 0.5);
  CHECK((info.workspaces[0].zeroed && info.workspaces[0].bytes.text == "R * 4"));
  CHECK((info.hooks[0].result == "f32" && info.hooks[0].default_text == "a"));
  CHECK((info.hooks[0].parameters[1].name == "b" && info.hooks[0].parameters[1].when->params[0] == "Q"));
  CHECK(!info.hooks[0].parameters[0].when);
  CHECK(info.presets[0].settings == std::vector<std::pair<std::string, std::int64_t>>{{"P", 1}, {"Q", 3}});
  CHECK(info.presets[0].when->names == std::vector<std::string>{"M"});
  CHECK((info.launch.grid[0].text == "R" && info.launch.smem->text == "64"));
  CHECK((info.flops->text == "M" && !info.bytes && !info.reference));
}

}  // namespace tma_jit::templates
