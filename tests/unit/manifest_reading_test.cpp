// Every directive as values: what of a manifest a template holds.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("every directive is read into the template") {
  const Template t = parsed(kFull);
  CHECK(t.file() == "k.cu");
  CHECK(t.stem() == "k");
  CHECK(t.text() == kFull);
  CHECK(t.kernel == "demo");
  CHECK(t.doc == "what it \"does\"");
  CHECK(t.archs == std::vector<std::string>{"sm_90a", "sm_100a", "sm_120"});
  CHECK(t.order == std::vector<std::string>{"T", "U", "M", "N", "K", "H", "BM", "STAGES", "SHIFT", "BK", "TILES",
                                            "LIMIT", "FIXED", "STEP", "AFTER"});
}

TEST_CASE("types, dims and params") {
  const Template t = parsed(kFull);
  REQUIRE(t.types.size() == 2);
  CHECK(t.types[0].default_value == DType::bf16);
  CHECK(t.types[0].choices == std::vector{DType::bf16, DType::f16});
  CHECK(t.types[0].doc == "elements");
  CHECK(t.types[1].choices == std::vector{DType::f32});

  REQUIRE(t.dims.size() == 4);
  CHECK(t.find_dim("M")->min == 0);
  CHECK(t.find_dim("N")->max == 2147483647);
  CHECK(t.find_dim("N")->doc == "rows, columns");
  CHECK(t.find_dim("N")->text == "N in 0..2147483647");
  CHECK(t.find_dim("N")->at.column == 16);
  CHECK_FALSE(t.find_dim("M")->wide);
  CHECK(t.find_dim("K")->wide);
  CHECK(t.find_dim("K")->min == 1);
  CHECK(t.find_dim("K")->max == std::int64_t{1} << 62);
  CHECK(t.find_dim("H")->value == 128);

  CHECK(t.find_param("BM")->default_value == 128);
  CHECK(t.find_param("BM")->values == std::vector<std::int64_t>{64, 128, 192});
  CHECK(t.find_param("BM")->text == "BM = 128 in {64, 128, 192}");
  CHECK(t.find_param("BM")->at.line == 10);
  CHECK(t.find_param("STAGES")->values == std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 8});
  CHECK(t.find_param("SHIFT")->values == std::vector<std::int64_t>{-1, 0, 16});
  CHECK(t.find_param("NOPE") == nullptr);
}

TEST_CASE("lets and rules, and what is known only at launch") {
  const Template t = parsed(kFull);
  CHECK(t.find_let("BK")->doc == "one swizzle row");
  CHECK(t.find_let("BK")->value.text() == "128 / sizeof(T)");
  CHECK_FALSE(launch_time(*t.find_let("BK")));
  CHECK(launch_time(*t.find_let("TILES")));
  CHECK_FALSE(launch_time(*t.find_let("TILES"), {"M"}));
  CHECK(launch_time(*t.find_let("LIMIT"), {"M", "N", "K"}));
  CHECK_FALSE(launch_time(*t.find_let("FIXED")));  // the template fixes H
  CHECK(launch_time(*t.find_let("STEP"), {"M", "N", "K"}));
  CHECK(launch_time(*t.find_let("AFTER"), {"M", "N", "K"}));
  CHECK(t.find_let("AFTER")->dims == std::vector<std::string>{"M"});

  REQUIRE(t.rules.size() == 2);
  CHECK(t.rules[0].text == "K * sizeof(T) % 16 == 0");
  CHECK(t.rules[0].doc == "rows must be aligned");
  CHECK(t.rules[0].at.line == 19);
  CHECK(t.rules[1].doc.empty());
  CHECK(launch_time(t, t.rules[0].condition));
  CHECK_FALSE(launch_time(t, t.rules[0].condition, {"K"}));
  CHECK(launch_time(t, t.rules[1].condition, {"K"}));
}

TEST_CASE("tensors with every attribute") {
  const Template t = parsed(kFull);
  const Tensor& a = *t.find_tensor("A");
  CHECK(a.type.name == "T");
  CHECK_FALSE(a.type.concrete);
  REQUIRE(a.shape.size() == 2);
  CHECK(a.shape[0].single_name() == "M");
  REQUIRE(a.box);
  CHECK((*a.box)[1].text() == "BK");
  CHECK(a.swizzle->constant() == 128);
  CHECK(a.interleave->constant() == 0);
  CHECK(a.l2->constant() == 256);
  CHECK(a.steps->size() == 2);
  CHECK(a.fill == Fill::nan);
  CHECK_FALSE(a.output);
  CHECK_FALSE(a.when);
  CHECK(a.doc == "the input");

  const Tensor& b = *t.find_tensor("B");
  CHECK(b.type.concrete == DType::f32);
  CHECK_FALSE(b.box);
  CHECK(b.when->text() == "STAGES >= 3");

  const Tensor& d = *t.find_tensor("D");
  CHECK(d.output);
  CHECK(d.viewed);
  CHECK_FALSE(a.viewed);
  CHECK(d.box);
  CHECK_FALSE(d.shape[1].single_name());
  CHECK_FALSE(d.swizzle);
  CHECK(d.fill == Fill::zero);
}

TEST_CASE("tensors with the attributes of im2col maps and of other types and swizzles") {
  const Template t = parsed(R"(//! kernel k
//! arch sm_100a
//! dim N, H, W, C
//! param PAD = 1 in 0..3
//! tensor X : f32[N, H, W, C] im2col [-PAD, 0] [PAD - 2, -1] box [100, 32] steps [1, 2, 2, 1] as tf32 swizzle 128 atom 32 flip
//! tensor Y : u8[N, H, W, C] im2col_w128 [-1] [1] box [128, 128] as b6x16_p32
//! tensor Z : f32[N, C] box [8, 8]
//! launch grid 1 block 32
)");
  const Tensor& x = *t.find_tensor("X");
  CHECK(x.mode == MapMode::im2col);
  REQUIRE(x.lower.size() == 2);
  CHECK(x.lower[0].text() == "-PAD");
  CHECK(x.upper[0].text() == "PAD - 2");
  CHECK(x.upper[1].constant() == -1);
  CHECK(x.box->size() == 2);
  CHECK(x.as == MapType::tf32);
  CHECK(x.atom->constant() == 32);
  CHECK(x.flip);
  const Tensor& y = *t.find_tensor("Y");
  CHECK(y.mode == MapMode::im2col_w128);
  CHECK(y.as == MapType::b6x16_p32);
  CHECK_FALSE(y.flip);
  const Tensor& z = *t.find_tensor("Z");
  CHECK(z.mode == MapMode::tile);
  CHECK_FALSE(z.as);
}

TEST_CASE("scalars, workspaces and hooks") {
  const Template t = parsed(kFull);
  REQUIRE(t.scalars.size() == 4);
  CHECK(std::get<double>(*t.scalars[0].default_value) == 1.5);
  CHECK(t.scalars[0].type.concrete == DType::f32);
  CHECK(t.scalars[0].doc == "factor");
  CHECK_FALSE(t.scalars[1].default_value);
  CHECK(t.scalars[1].type.name == "T");
  CHECK(std::get<std::int64_t>(*t.scalars[2].default_value) == -3);
  CHECK(std::get<double>(*t.scalars[3].default_value) == -1e-5);

  REQUIRE(t.workspaces.size() == 2);
  CHECK(t.workspaces[0].name == "partials");
  CHECK(t.workspaces[0].bytes.text() == "TILES * 4");
  CHECK(t.workspaces[0].zeroed);
  CHECK(t.workspaces[0].doc == "sums");
  CHECK_FALSE(t.workspaces[1].zeroed);

  REQUIRE(t.hooks.size() == 2);
  const Hook& apply = t.hooks[0];
  CHECK(apply.name == "apply");
  REQUIRE(apply.parameters.size() == 2);
  CHECK(apply.parameters[0].name == "a");
  CHECK_FALSE(apply.parameters[0].when);
  CHECK(apply.parameters[1].type.name == "T");
  CHECK(apply.parameters[1].when->text() == "STAGES >= 3");
  CHECK(apply.result.concrete == DType::f32);
  CHECK(apply.default_value == "a * \"x\"[0] + 0.5f");
  CHECK(apply.doc == "the epilogue");
  CHECK(apply.text == "apply(f32 a, T b when STAGES >= 3) : f32 = a * \"x\"[0] + 0.5f");
  CHECK(t.hooks[1].parameters.empty());
  CHECK_FALSE(t.hooks[1].default_value);
}

TEST_CASE("a hook's default runs to the end of the line") {
  const auto hook = [](std::string_view rest) {
    return parsed(fmt::format("{}//! hook f(f32 a) : f32 = {}\n", kFrame, rest)).hooks[0];
  };
  CHECK(hook("a").default_value == "a");
  CHECK(hook("float b = a; return b;  ").default_value == "float b = a; return b;");
  CHECK(hook("a > 0 ? a : `@#$").default_value == "a > 0 ? a : `@#$");
  CHECK(hook("a \"doc \\\"quoted\\\"\"").default_value == "a");
  CHECK(hook("a \"doc \\\"quoted\\\"\"").doc == "doc \"quoted\"");
  CHECK_FALSE(hook("generic").generic);
  const Hook generic = parsed(fmt::format("{}//! hook f(f32 a) : f32 generic = a\n", kFrame)).hooks[0];
  CHECK(generic.generic);
  CHECK(generic.default_value == "a");
}

TEST_CASE("launch, cluster, work, presets and reference") {
  const Template t = parsed(kFull);
  CHECK(t.cluster.size() == 2);
  CHECK(t.launch.grid.size() == 3);
  CHECK(t.launch.block.size() == 2);
  CHECK(t.launch.block[0].constant() == 128);
  CHECK(t.launch.smem->text() == "LIMIT");
  CHECK(t.launch.programmatic);
  CHECK(t.launch.waits);
  CHECK(t.launch.at.line == 33);
  CHECK(t.work.flops->text() == "2 * M * N");
  CHECK(t.work.bytes->text() == "M + N");
  REQUIRE(t.presets.size() == 2);
  CHECK(t.presets[0].settings[1].param == "STAGES");
  CHECK(t.presets[0].settings[1].value == 6);
  CHECK(t.presets[0].when->text() == "TILES < device.sm_count");
  CHECK(t.presets[0].doc == "small");
  CHECK_FALSE(t.presets[1].when);
  REQUIRE(t.reference);
  CHECK(t.reference->entry == "demo_reference");
  CHECK(t.reference->grid[0].text() == "M");
  CHECK(t.reference->block[0].constant() == 256);
  CHECK_FALSE(t.inputs);
}

TEST_CASE("a kernel that computes inputs") {
  const Template t = parsed(fmt::format("{}//! dim M\n//! inputs made grid M block 64 \"some\"\n", kFrame));
  REQUIRE(t.inputs);
  CHECK(t.inputs->entry == "made");
  CHECK(t.inputs->grid[0].text() == "M");
  CHECK(t.inputs->block[0].constant() == 64);
  CHECK(kernel_info(t).inputs->entry == "made");
}

TEST_CASE(
    "a line with several values of a param states a preset for each, and for each combination of several params") {
  const Template t = parsed(
      "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n//! dim M\n//! param A = 1 in 1..9\n//! param B = 1 "
      "in 1..9\n"
      "//! preset A = {5, 2}, B = {3, 1} when M > 8 \"doc\"\n//! preset A = {7}\n");
  std::vector<std::string> texts;
  for (const Preset& preset : t.presets) texts.push_back(preset.text);
  CHECK(texts == std::vector<std::string>{"A = 5, B = 3 when M > 8", "A = 5, B = 1 when M > 8",
                                          "A = 2, B = 3 when M > 8", "A = 2, B = 1 when M > 8", "A = {7}"});
  CHECK(t.presets[2].settings[0].value == 2);
  CHECK(t.presets[2].settings[1].value == 3);
  CHECK(t.presets[2].doc == "doc");
  CHECK(t.presets[3].when->text() == "M > 8");
  CHECK(t.presets[4].settings[0].value == 7);
}

TEST_CASE("equal references share an id that indexes the template's table") {
  const Template t = parsed(kFull);
  for (const Let& let : t.lets) {
    for (const Reference& reference : let.value.references()) {
      REQUIRE(reference.id >= 0);
      CHECK(t.references[static_cast<std::size_t>(reference.id)].text() == reference.text());
    }
  }
  CHECK(t.find_let("BK")->value.references()[0].id == t.rules[0].condition.references()[1].id);  // sizeof(T)
}

}  // namespace tma_jit::templates
