#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "device/fact_names.h"
#include "template/template.h"

namespace tma_jit::templates {
namespace {

constexpr std::string_view kFull = R"(//! kernel  demo     "what it \"does\""
//! arch    sm_90a, sm_100a
//! arch    sm_120
//!
//! type    T      = bf16  in {bf16, f16}            "elements"
//! type    U      = f32
//! dim     M, N   in 0..2147483647                  "rows, columns"
//! dim     K : s64
//! dim     H      = 128
//! param   BM     = 128   in {64, 128, 192}         "rows of a tile"
//! param   STAGES = 3     in 2..8
//! param   SHIFT  = -1    in {-1, 0, 2 * 8}
//! let     BK     = 128 / sizeof(T)                 "one swizzle row"
//! let     TILES  = ceil_div(M, BM)
//! let     LIMIT  = device.smem_per_block - BK
//! let     FIXED  = H + BK
//! let     STEP   = stride(A, 0)
//! let     AFTER  = STEP + TILES
//! require K * sizeof(T) % 16 == 0                  "rows must be aligned"
//! require alignment(A) >= 16
//! tensor  A : T[M, K]       box [BM, BK] swizzle 128 interleave 0 l2 256 steps [1, 1] fill nan "the input"
//! tensor  B : f32[N]        when STAGES >= 3
//! tensor  D : U[M, N + 1]   out box [BM, 64] view
//! scalar  alpha : f32 = 1.5                        "factor"
//! scalar  beta : T
//! scalar  count : s32 = -3
//! scalar  tiny : f64 = -1e-5
//! workspace partials TILES * 4 zero                "sums"
//! workspace more 16
//! hook    apply(f32 a, T b when STAGES >= 3) : f32 = a * "x"[0] + 0.5f   "the epilogue"
//! hook    finish() : U
//! cluster 2, 1
//! launch  grid TILES, 2, 3 block 128, 2 smem LIMIT pdl
//! work    flops 2 * M * N bytes M + N
//! preset  BM = 64, STAGES = 6 when TILES < device.sm_count "small"
//! preset  BM = 192
//! reference demo_reference grid M block 256
__global__ void demo() {}
)";

constexpr std::string_view kFrame = "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n";

Template parsed(std::string_view text) {
  auto result = parse("k.cu", std::string(text));
  if (!result) FAIL(result.error().text());
  return *result;
}

// A line that is refused: where (1-based column, marked length) and with which words.
struct Refused {
  std::string_view line;
  int column, length;
  std::string_view message;
};

void check_refused(std::string_view before, const Refused& row) {
  CAPTURE(row.line);
  const auto result = parse("k.cu", fmt::format("{}{}\nvoid body();\n", before, row.line));
  REQUIRE_FALSE(result.has_value());
  const long line = std::count(before.begin(), before.end(), '\n') + 1;
  CHECK(result.error().code == ErrorCode::parse);
  CHECK(result.error().line() == fmt::format("k.cu:{}:{}: {}", line, row.column, row.message));
  CHECK(result.error().detail == fmt::format("{}\n{}^{}", row.line,
                                             std::string(static_cast<std::size_t>(row.column - 1), ' '),
                                             std::string(static_cast<std::size_t>(row.length - 1), '~')));
}

// `line` is the fourth of a manifest that is otherwise whole.
void check_refused(const Refused& row) {
  check_refused(kFrame, row);
}

}  // namespace

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

TEST_CASE("layout is free: tabs, indentation, carriage returns, no final newline, names apart from their place") {
  const Template t = parsed(
      "  //!kernel k\r\n\t//!\tarch\tsm_90a sm_100a\r\n//!\r\n//! launch grid GRID block 32\r\n//!let GRID = "
      "X\r\n//!param X=1 in{1}");
  CHECK(t.kernel == "k");
  CHECK(t.archs.size() == 2);
  CHECK(t.lets[0].value.text() == "X");
  CHECK(t.params[0].values == std::vector<std::int64_t>{1});
}

TEST_CASE("a caret stands under tabs and multi-byte characters") {
  const auto tabs = parse("k.cu", "//!\tparm X");
  CHECK(tabs.error().line() == "k.cu:1:5: unknown directive parm; did you mean \"param\"?");
  CHECK(tabs.error().detail == "//!\tparm X\n   \t^~~~");
  const auto wide = parse("k.cu", "//! kernel k \"\xc3\xa9\" x");
  CHECK(wide.error().message == "k.cu:1:19: expected the end of the line, found \"x\"");
  CHECK(wide.error().detail == "//! kernel k \"\xc3\xa9\" x\n                 ^");
}

TEST_CASE("a manifest needs a kernel, an architecture and a launch") {
  const auto message = [](std::string_view text) { return parse("k.cu", std::string(text)).error().message; };
  CHECK(message("") == "k.cu:1:1: there is no manifest: a template declares its kernel in lines that begin with //!");
  CHECK(message("int x;\n// ! kernel k\n").starts_with("k.cu:1:1: there is no manifest"));
  CHECK(message("//! arch sm_90a\n") == "k.cu:1:1: the manifest names no kernel; add a line like //! kernel NAME");
  CHECK(message("//! kernel k\n") == "k.cu:1:1: the manifest names no architecture; add a line like //! arch sm_90a");
  CHECK(message("//! kernel k\n//! arch sm_90a\n") ==
        "k.cu:1:1: the manifest has no launch; add a line like //! launch grid X block THREADS");
}

TEST_CASE("directives that are unknown, misplaced or repeated") {
  check_refused({"//! tensr A : f32[1]", 5, 5, "unknown directive tensr; did you mean \"tensor\"?"});
  check_refused({"//! frobnicate", 5, 10, "unknown directive frobnicate"});
  check_refused({"//! 42", 5, 2, "expected a directive, found \"42\""});
  check_refused({"//! \"text\"", 5, 6, "expected a directive, found a text"});
  check_refused({"//! kernel other", 5, 6, "a second kernel; the first is on line 1"});
  check_refused({"//! launch grid 1 block 1", 5, 6, "a second launch; the first is on line 3"});
  check_refused({"//! kernel", 5, 6, "a second kernel; the first is on line 1"});
  check_refused("//! cluster 1\n", {"//! cluster 2", 5, 7, "a second cluster; the first is on line 1"});
  check_refused("//! work flops 1\n", {"//! work flops 2", 5, 4, "a second work; the first is on line 1"});
}

TEST_CASE("kernel and arch") {
  check_refused("", {"//! kernel", 11, 1, "expected the name of the kernel, found the end of the line"});
  check_refused("", {"//! kernel 7", 12, 1, "expected the name of the kernel, found \"7\""});
  check_refused("", {"//! kernel int", 12, 3, "int is a word of C++ and cannot be declared"});
  check_refused("", {"//! kernel k k", 14, 1, "expected a doc text or the end of the line, found \"k\""});
  check_refused("", {"//! kernel k \"open", 14, 5, "the text is not closed with \""});
  check_refused({"//! arch", 9, 1, "expected an architecture like sm_90a, found the end of the line"});
  check_refused({"//! arch sm90", 10, 4, "sm90 is not an architecture; they are written like sm_90a"});
  check_refused({"//! arch sm_9x", 10, 5, "sm_9x is not an architecture; they are written like sm_90a"});
  check_refused({"//! arch sm_100a, sm_90a", 19, 6, "sm_90a is listed twice"});
  check_refused({"//! arch sm_100a,", 18, 1, "expected an architecture like sm_90a, found the end of the line"});
  check_refused(
      {"//! arch sm_100a = 3", 18, 1, "expected an architecture or the end of the line, found \"=\"; \"==\" compares"});
}

TEST_CASE("names are unique and free to be declared") {
  check_refused("//! param BM = 1 in {1}\n", {"//! let BM = 2", 9, 2, "BM is already declared, as a param on line 1"});
  check_refused("//! tensor A : f32[1]\n",
                {"//! scalar A : f32", 12, 1, "A is already declared, as a tensor on line 1"});
  check_refused({"//! dim k", 9, 1, "k is already declared, as the kernel on line 1"});
  check_refused({"//! dim M, M", 12, 1, "M is already declared, as a dim on line 4"});
  check_refused({"//! let bf16 = 1", 9, 4, "bf16 is an element type and cannot be declared"});
  check_refused({"//! let while = 1", 9, 5, "while is a word of C++ and cannot be declared"});
  check_refused({"//! let Dims = 1", 9, 4, "Dims already has a meaning in every template"});
  check_refused({"//! type device = f32", 10, 6, "device already has a meaning in every template"});
  check_refused({"//! param true = 1 in {1}", 11, 4, "true is a word of C++ and cannot be declared"});
}

TEST_CASE("type") {
  check_refused({"//! type", 9, 1, "expected the name of a type, found the end of the line"});
  check_refused({"//! type T", 11, 1, "expected \"=\" after T, found the end of the line"});
  check_refused({"//! type T = ", 13, 1, "expected the type's default, found the end of the line"});
  check_refused({"//! type T = bf61", 14, 4, "unknown element type bf61"});
  check_refused({"//! type T = bf17", 14, 4, "unknown element type bf17; did you mean \"bf16\"?"});
  check_refused({"//! type T = f32 in f32", 21, 3, "expected \"{\" after in, found \"f32\""});
  check_refused({"//! type T = f32 in {}", 22, 1, "expected an element type, found \"}\""});
  check_refused({"//! type T = f32 in {f32, f32}", 27, 3, "f32 is listed twice"});
  check_refused({"//! type T = f32 in {f32", 25, 1, "expected \"}\" after the types, found the end of the line"});
  check_refused({"//! type T = f32 in {bf16, f16}", 14, 3, "the default f32 is not one of the choices of T"});
  check_refused({"//! type T = f32 {f32}", 18, 1, "expected \"in\", a doc text or the end of the line, found \"{\""});
}

TEST_CASE("dim") {
  check_refused({"//! dim", 8, 1, "expected the name of a dim, found the end of the line"});
  check_refused({"//! dim M,", 11, 1, "expected the name of a dim, found the end of the line"});
  check_refused({"//! dim M N", 11, 1,
                 "expected \",\", \":\", \"in\", \"=\", \"when\", a doc text or the end of the line, found \"N\""});
  check_refused({"//! dim M : f32", 13, 3, "a dim is s32 or s64, not f32"});
  check_refused({"//! dim M in {1, 2}", 14, 1, "the values of a dim are a range, like 1..4096"});
  check_refused({"//! dim M in 8..2", 14, 1, "the range 8..2 is empty"});
  check_refused({"//! dim M in -1..2", 14, 1, "a dim cannot be -1"});
  check_refused({"//! dim M in 0..2147483648", 14, 1,
                 "a dim of 32 bits cannot be more than 2147483647; \": s64\" makes it 64-bit"});
  check_refused({"//! dim M : s64 in 0..4611686018427387905", 20, 1, "a dim cannot be more than 4611686018427387904"});
  check_refused({"//! dim M in 1", 15, 1, "expected \"..\" in the range, found the end of the line"});
  check_refused({"//! dim M in 1..M", 17, 1, "a dim's bounds must be numbers, and M is not one"});
  check_refused({"//! dim H = 0", 13, 1, "0 is not in 1..2147483647"});
  check_refused({"//! dim H in 1..4 = 8", 21, 1, "8 is not in 1..4"});
  check_refused({"//! dim H, W = 8", 16, 1, "a dim with a value has a line of its own"});
  check_refused({"//! dim H = BM", 13, 2, "a fixed dim's values must be numbers, and BM is not one"});
}

TEST_CASE("param") {
  check_refused({"//! param", 10, 1, "expected the name of a param, found the end of the line"});
  check_refused({"//! param BM 128", 14, 3, "expected \"=\" after BM, found \"128\""});
  check_refused({"//! param BM =", 15, 1, "expected the param's default, found the end of the line"});
  check_refused({"//! param BM = 128", 19, 1, "expected \"in\" and the param's values, found the end of the line"});
  check_refused({"//! param BM = 128 in", 22, 1, "expected a value, found the end of the line"});
  check_refused({"//! param BM = 128 in {}", 24, 1, "expected a value, found \"}\""});
  check_refused({"//! param BM = 128 in {64,}", 27, 1, "expected a value, found \"}\""});
  check_refused(
      {"//! param BM = 128 in {64, 128", 31, 1, "expected \"}\" after the values, found the end of the line"});
  check_refused({"//! param BM = 128 in {128, 64 * 2}", 29, 2, "128 is listed twice"});
  check_refused({"//! param BM = 96 in {64, 128}", 16, 2, "the default 96 is not one of the values of BM"});
  check_refused({"//! param BM = 9 in 2..8", 16, 1, "the default 9 is not one of the values of BM"});
  check_refused({"//! param BM = 2 in 8..2", 21, 1, "the range 8..2 is empty"});
  check_refused({"//! param BM = 2 in 0..4096", 21, 1, "the range 0..4096 has more than 4096 values"});
  check_refused({"//! param BM = 2 in -9223372036854775807..9223372036854775807", 21, 1,
                 "the range -9223372036854775807..9223372036854775807 has more than 4096 values"});
  check_refused(
      {"//! param BM = sizeof(T) in {2}", 23, 1, "a param's values must be numbers, and sizeof(T) is not one"});
  check_refused({"//! param BM = 1 / 0 in {2}", 18, 1, "division by zero: 1 / 0"});
  check_refused({"//! param BM = 1.5 in {2}", 16, 3, "1.5 is not an integer"});
  check_refused(
      {"//! param BM = 2 in {2} when 1", 25, 4, "expected a doc text or the end of the line, found \"when\""});
}

TEST_CASE("let: value, order and cycles") {
  check_refused({"//! let X", 10, 1, "expected \"=\" after X, found the end of the line"});
  check_refused({"//! let X =", 12, 1, "expected the let's value, found the end of the line"});
  check_refused({"//! let X = 1 +", 16, 1, "expected a value, found the end of the line"});
  check_refused({"//! let X = 1 1", 15, 1, "expected an operator, a doc text or the end of the line, found \"1\""});
  check_refused({"//! let X = 1 + X", 17, 1, "let X refers to itself"});
  const auto message = [](std::string_view lets) {
    const auto result = parse("k.cu", fmt::format("{}{}", kFrame, lets));
    return result.error().message + "\n" + result.error().detail;
  };
  CHECK(message("//! let X = Y\n//! let Y = 1\n") ==
        "k.cu:4:13: Y is declared below, on line 5; a let uses only lets above it\n//! let X = Y\n            ^");
  CHECK(message("//! let X = 2 * Y\n//! let Y = Z\n//! let Z = X\n") ==
        "k.cu:4:17: the lets refer to each other: X -> Y -> Z -> X\n//! let X = 2 * Y\n                ^");
}

TEST_CASE("names in expressions") {
  constexpr std::string_view kNames =
      "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n//! type T = f32\n//! dim M\n"
      "//! param STAGES = 1 in {1}\n//! tensor A : T[M]\n//! scalar alpha : f32\n//! workspace w 16\n//! hook h() : "
      "f32\n";
  const auto refused = [&](const Refused& row) { check_refused(kNames, row); };
  refused({"//! require STAGE > 1", 13, 5, "unknown name STAGE; did you mean \"STAGES\"?"});
  refused({"//! require WARPS > 1", 13, 5, "unknown name WARPS"});
  refused({"//! require sm_count > 1", 13, 8, "unknown name sm_count; did you mean \"device.sm_count\"?"});
  refused({"//! require T == 4", 13, 1, "T is a type, not a number; sizeof(T) is its size in bytes"});
  refused({"//! require A > 1", 13, 1, "A is a tensor, not a number; stride(A, 0) and alignment(A) are known of it"});
  refused(
      {"//! require alpha > 1", 13, 5, "alpha is a scalar, and its value is not known when a configuration is chosen"});
  refused({"//! require w > 1", 13, 1, "w is a workspace, not a number"});
  refused({"//! require h > 1", 13, 1, "h is a hook, not a number"});
  refused({"//! require k > 1", 13, 1, "k is the kernel, not a number"});
  refused({"//! require device.sm_cout > 1", 20, 7, "a device has no sm_cout; did you mean \"sm_count\"?"});
  refused({"//! require sizeof(bf17) > 1", 20, 4, "unknown type bf17; did you mean \"bf16\"?"});
  refused({"//! require sizeof(A) > 1", 20, 1, "sizeof takes a type, and A is a tensor"});
  refused({"//! require stride(AA, 0) > 1", 20, 2, "unknown tensor AA; did you mean \"A\"?"});
  refused({"//! require stride(M, 0) > 1", 20, 1, "stride takes a tensor, and M is a dim"});
  refused({"//! require alignment(STAGES) > 1", 23, 6, "alignment takes a tensor, and STAGES is a param"});
  refused({"//! require given(STAGES) == 0", 19, 6, "given takes a hook, and STAGES is a param"});
  refused({"//! require given(nope) == 0", 19, 4, "unknown hook nope"});
  refused({"//! require stride(A, 1) > 1", 20, 1, "A has no dimension 1: it has 1, counted from 0"});
}

TEST_CASE("names are checked in every place an expression may stand") {
  const std::vector<std::string_view> lines = {"//! let X = NOPE",
                                               "//! require NOPE",
                                               "//! tensor A : f32[NOPE]",
                                               "//! tensor A : f32[1] box [NOPE]",
                                               "//! tensor A : f32[1] box [1] steps [NOPE]",
                                               "//! tensor A : f32[1] box [1] swizzle NOPE",
                                               "//! tensor A : f32[1] box [1] interleave NOPE",
                                               "//! tensor A : f32[1] box [1] l2 NOPE",
                                               "//! tensor A : f32[1] when NOPE",
                                               "//! workspace w NOPE",
                                               "//! hook h(f32 a when NOPE) : f32",
                                               "//! cluster NOPE",
                                               "//! work flops NOPE",
                                               "//! work bytes NOPE",
                                               "//! reference r grid NOPE block 1",
                                               "//! reference r grid 1 block NOPE",
                                               "//! reference r grid 1 block 1 bits NOPE"};
  for (const std::string_view line : lines) {
    check_refused({line, static_cast<int>(line.find("NOPE")) + 1, 4, "unknown name NOPE"});
  }
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid NOPE block 1", 17, 4, "unknown name NOPE"});
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid 1 block NOPE", 25, 4, "unknown name NOPE"});
  check_refused("//! kernel k\n//! arch sm_90a\n", {"//! launch grid 1 block 1 smem NOPE", 32, 4, "unknown name NOPE"});
}

TEST_CASE("require") {
  check_refused({"//! require", 12, 1, "expected the condition of the rule, found the end of the line"});
  check_refused({"//! require 1 = 2", 15, 1,
                 "expected an operator, a doc text or the end of the line, found \"=\"; \"==\" compares"});
  check_refused({"//! require 1 \"a\" \"b\"", 19, 3, "expected the end of the line, found a text"});
}

TEST_CASE("tensor") {
  check_refused({"//! tensor", 11, 1, "expected the name of a tensor, found the end of the line"});
  check_refused({"//! tensor A f32[1]", 14, 3, "expected \":\" after A, found \"f32\""});
  check_refused({"//! tensor A : [1]", 16, 1, "expected the tensor's element type, found \"[\""});
  check_refused({"//! tensor A : f32", 19, 1, "expected \"[\" before the shape, found the end of the line"});
  check_refused({"//! tensor A : f32[]", 20, 1, "expected the shape, found \"]\""});
  check_refused({"//! tensor A : f32[1", 21, 1, "expected \"]\" after the shape, found the end of the line"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4, 5, 6]", 35, 1, "more than 5 values for the shape"});
  check_refused({"//! tensor A : Q[1]", 16, 1, "unknown type Q"});
  check_refused({"//! tensor A : A[1]", 16, 1, "A is a tensor, not a type"});
  check_refused({"//! tensor A : f33[1]", 16, 3, "unknown type f33; did you mean \"f32\"?"});
  check_refused({"//! tensor A : f32[1] bx [1]", 23, 2, "unknown tensor attribute bx; did you mean \"box\"?"});
  check_refused({"//! tensor A : f32[1] early early", 29, 5, "early is given twice"});
  check_refused({"//! tensor A : f32[1] out out", 27, 3, "out is given twice"});
  check_refused({"//! tensor A : f32[1] box 1", 27, 1, "expected \"[\" before the box, found \"1\""});
  check_refused({"//! tensor A : f32[1, 2] box [4]", 31, 1, "the shape of A has 2 dimensions, its box 1"});
  check_refused({"//! tensor A : f32[1] box [4] steps [1, 1]", 38, 1, "the shape of A has 1 dimensions, its steps 2"});
  check_refused({"//! tensor A : f32[1] box [257]", 28, 3, "a box extent is 1 to 256, not 257"});
  check_refused({"//! tensor A : f32[1] box [0]", 28, 1, "a box extent is 1 to 256, not 0"});
  check_refused({"//! tensor A : f32[1] box [1] steps [9]", 38, 1, "an element step is 1 to 8, not 9"});
  check_refused({"//! tensor A : f32[1] box [1] swizzle 100", 39, 3, "swizzle is one of 0, 32, 64, 128, not 100"});
  check_refused({"//! tensor A : f32[1] box [1] swizzle 128 atom 8", 48, 1, "atom is one of 16, 32, 64, not 8"});
  check_refused(
      {"//! tensor A : f32[1] box [1] swizzle 128 flip", 12, 1, "flip needs atom 32 and swizzle 128; A has no atom"});
  check_refused(
      {"//! tensor A : f32[1] box [1] as e5m2", 34, 4,
       "TMA knows no type e5m2; it knows u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, "
       "b4x16, b4x16_p64, b6x16_p32"});
  check_refused({"//! tensor A : f32[1] as tf32", 23, 2, "as needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1, 2] im2col [1] [2] box [1, 4]", 12, 1,
                 "im2col needs 3 to 5 dimensions, N, then D, H and W as there are, then C; A has 2"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4] im2col [1] [2, 3] box [1, 4]", 40, 1,
                 "the lower corner of A, im2col over 4 dimensions, takes the offsets of H and W, not 1"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4] im2col_w [1] [2, 3] box [1, 4]", 46, 1,
                 "the upper corner of A, im2col_w over 4 dimensions, takes one offset, W's, not 2"});
  check_refused({"//! tensor A : f32[1, 2, 3] im2col [1] [2] box [1, 2, 4]", 49, 1,
                 "the box of A, im2col over 3 dimensions, takes pixels and channels, not 3"});
  check_refused(
      {"//! tensor A : f32[1, 2, 3] im2col [1] [2] box [1025, 4]", 49, 4, "a box extent is 1 to 1024, not 1025"});
  check_refused({"//! tensor A : f32[1, 2, 3] im2col [1] box [1, 4]", 40, 3,
                 "expected \"[\" before the upper corner, found \"box\""});
  check_refused(
      {"//! tensor A : f32[1, 2, 3] im2col [1] [2] im2col_w [1] [2] box [1, 4]", 44, 8, "A is im2col already"});
  check_refused({"//! tensor A : f32[1] box [1] interleave 8", 42, 1, "interleave is one of 0, 16, 32, not 8"});
  check_refused({"//! tensor A : f32[1] box [1] l2 2 * 16", 34, 6, "l2 is one of 0, 64, 128, 256, not 32"});
  check_refused({"//! tensor A : f32[1] box [1] fill one", 36, 3, "fill is zero or nan, not one"});
  check_refused({"//! tensor A : f32[1] box [1] fill", 35, 1, "expected zero or nan, found the end of the line"});
  check_refused({"//! tensor A : f32[1] swizzle 128", 23, 7, "swizzle needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] view", 23, 4, "view needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] out fill nan", 27, 4, "fill needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] swizzle [1]", 31, 1, "expected the swizzle in bytes, found \"[\""});
  check_refused({"//! tensor A : f32[1] when", 27, 1, "expected the tensor's condition, found the end of the line"});
  check_refused(
      {"//! tensor A : f32[1] , out", 23, 1, "expected an attribute, a doc text or the end of the line, found \",\""});
}

TEST_CASE("scalar") {
  check_refused({"//! scalar alpha", 17, 1, "expected \":\" after alpha, found the end of the line"});
  check_refused({"//! scalar alpha : float", 20, 5, "unknown type float"});
  check_refused({"//! scalar alpha : f32 =", 25, 1, "expected the scalar's default, found the end of the line"});
  check_refused({"//! scalar alpha : f32 = 1.5x", 26, 4, "1.5x is not a number"});
  check_refused({"//! scalar alpha : f32 = -1e999", 27, 5, "1e999 is not a number"});
  check_refused({"//! scalar n : s32 = 1.5", 22, 3, "the default of n must be an integer, as s32 is one"});
  check_refused({"//! scalar n : s32 = k", 22, 1, "a scalar's default values must be numbers, and k is not one"});
  check_refused({"//! scalar n : s32 1", 20, 1, "expected \"=\", a doc text or the end of the line, found \"1\""});
  const Template t = parsed(fmt::format("{}//! scalar a : f32 = 2.5f\n//! scalar b : s32 = -(2 + 3) * 4\n", kFrame));
  CHECK(std::get<double>(*t.scalars[0].default_value) == 2.5);
  CHECK(std::get<std::int64_t>(*t.scalars[1].default_value) == -20);
}

TEST_CASE("workspace") {
  check_refused({"//! workspace", 14, 1, "expected the name of a workspace, found the end of the line"});
  check_refused({"//! workspace w", 16, 1, "expected the workspace's size in bytes, found the end of the line"});
  check_refused({"//! workspace w 16 clear", 20, 5,
                 "expected an operator, \"zero\", a doc text or the end of the line, found \"clear\""});
}

TEST_CASE("hook") {
  check_refused({"//! hook", 9, 1, "expected the name of a hook, found the end of the line"});
  check_refused({"//! hook f : f32", 12, 1, "expected \"(\" after f, found \":\""});
  check_refused({"//! hook f(f32) : f32", 15, 1, "expected the name of the hook's parameter, found \")\""});
  check_refused({"//! hook f(f32 a,) : f32", 18, 1, "expected the type of a hook's parameter, found \")\""});
  check_refused({"//! hook f(f32 a, f32 a) : f32", 23, 1, "f has two parameters named a"});
  check_refused({"//! hook f(f32 int) : f32", 16, 3, "int is a word of C++ and cannot be declared"});
  check_refused({"//! hook f(f32 a : f32", 18, 1, "expected \")\" after the hook's parameters, found \":\""});
  check_refused(
      {"//! hook f(f32 a)", 18, 1, "expected \":\" before the hook's result type, found the end of the line"});
  check_refused({"//! hook f(f32 a) :", 20, 1, "expected the hook's result type, found the end of the line"});
  check_refused({"//! hook f(f32 a) : f32 =", 25, 1, "the default of f is empty"});
  check_refused({"//! hook f(f32 a) : f32 = \"only doc\"", 25, 1, "the default of f is empty"});
  check_refused({"//! hook f(f32 a) : f32 a", 25, 1,
                 "expected \"generic\", \"=\", a doc text or the end of the line, found \"a\""});
  check_refused({"//! hook f(float a) : f32", 12, 5, "unknown type float"});
  check_refused({"//! hook f(f32 a) : Q", 21, 1, "unknown type Q"});
}

TEST_CASE("cluster, launch, work and reference") {
  check_refused({"//! cluster", 12, 1, "expected the cluster, found the end of the line"});
  check_refused({"//! cluster 1, 2, 3, 4", 22, 1, "more than 3 values for the cluster"});
  const auto launch = [](const Refused& row) { check_refused("//! kernel k\n//! arch sm_90a\n", row); };
  launch({"//! launch", 11, 1, "expected \"grid\", found the end of the line"});
  launch({"//! launch block 1", 12, 5, "expected \"grid\", found \"block\""});
  launch({"//! launch grid", 16, 1, "expected the grid, found the end of the line"});
  launch({"//! launch grid 1", 18, 1, "expected an operator, \",\" or \"block\", found the end of the line"});
  launch({"//! launch grid 1, 2, 3, 4 block 1", 26, 1, "more than 3 values for the grid"});
  launch({"//! launch grid 1 block 1, 2, 3, 4", 34, 1, "more than 3 values for the block"});
  launch({"//! launch grid 1 block 1 pdl smem 2", 31, 4, "expected a doc text or the end of the line, found \"smem\""});
  launch({"//! launch grid 1 block 1 waits pdl", 33, 3, "expected a doc text or the end of the line, found \"pdl\""});
  launch({"//! launch grid 1 block 1 smem", 31, 1, "expected the shared memory in bytes, found the end of the line"});
  launch({"//! launch grid 1 block 1 smem 1 2", 34, 1,
          "expected an operator, \"waits\", \"pdl\", a doc text or the end of the line, found \"2\""});
  launch(
      {"//! launch grid 1 block 1 sm 2", 27, 2,
       "expected an operator, \",\", \"smem\", \"waits\", \"pdl\", a doc text or the end of the line, found \"sm\""});
  check_refused({"//! work", 9, 1, "expected \"flops\", \"bytes\" or \"cycles\", found the end of the line"});
  check_refused({"//! work flops", 15, 1, "expected the number of flops, found the end of the line"});
  check_refused({"//! work flops 1 by 2", 18, 2,
                 "expected an operator, \"bytes\", \"cycles\", a doc text or the end of the line, found \"by\""});
  check_refused({"//! work bytes 1 flops 2", 18, 5,
                 "expected an operator, \"cycles\", a doc text or the end of the line, found \"flops\""});
  check_refused({"//! reference", 14, 1, "expected the name of the kernel, found the end of the line"});
  check_refused({"//! reference k grid 1 block 1", 15, 1, "k is already declared, as the kernel on line 1"});
  check_refused(
      {"//! reference r grid 1", 23, 1, "expected an operator, \",\" or \"block\", found the end of the line"});
}

TEST_CASE("preset") {
  constexpr std::string_view kParams =
      "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n//! dim M\n//! param STAGES = 2 in {2, 3}\n";
  const auto refused = [&](const Refused& row) { check_refused(kParams, row); };
  refused({"//! preset", 11, 1, "expected a param in the preset, found the end of the line"});
  refused({"//! preset STAGES", 18, 1, "expected \"=\" after STAGES, found the end of the line"});
  refused({"//! preset STAGES = 4", 12, 6, "4 is not one of the values of STAGES"});
  refused({"//! preset STAGE = 2", 12, 5, "unknown param STAGE; did you mean \"STAGES\"?"});
  refused({"//! preset M = 2", 12, 1, "a preset sets params, and M is a dim"});
  refused({"//! preset STAGES = 2, STAGES = 3", 24, 6, "STAGES is set twice"});
  refused({"//! preset STAGES = M", 21, 1, "a preset's values must be numbers, and M is not one"});
  refused({"//! preset STAGES = 2 when", 27, 1, "expected the preset's condition, found the end of the line"});
  refused({"//! preset STAGES = 2 when M = 3", 30, 1,
           "expected an operator, a doc text or the end of the line, found \"=\"; \"==\" compares"});
  refused({"//! preset STAGES = 2 if M", 23, 2,
           "expected \",\", \"when\", a doc text or the end of the line, found \"if\""});
  refused({"//! preset STAGES = 2 when MM > 1", 28, 2, "unknown name MM; did you mean \"M\"?"});
}

TEST_CASE("no prefix of a manifest crashes, and each that fails says where") {
  for (std::size_t size = 0; size <= kFull.size(); ++size) {
    const auto result = parse("k.cu", std::string(kFull.substr(0, size)));
    if (result) continue;
    CHECK(result.error().code == ErrorCode::parse);
    CHECK(result.error().message.starts_with("k.cu:"));
    CHECK(result.error().detail.find('^') != std::string::npos);
  }
}

TEST_CASE("no manifest with one byte changed or removed crashes") {
  for (std::size_t at = 0; at < kFull.size(); ++at) {
    std::string text(kFull);
    for (const char c : {'\0', '\n', '"', '(', ']', ' ', '9', 'x', '-', '\xff'}) {
      text[at] = c;
      const auto result = parse("k.cu", text);
      if (!result) REQUIRE(result.error().detail.find('^') != std::string::npos);
    }
    text.erase(at, 1);
    (void)parse("k.cu", text);
  }
}

TEST_CASE("device facts by name") {
  DeviceInfo device;
  device.sm_count = 132;
  device.multicast = true;
  device.compute_capability = 90;
  CHECK(device::device_fact(device, "sm_count") == 132);
  CHECK(device::device_fact(device, "multicast") == 1);
  CHECK(device::device_fact(device, "compute_capability") == 90);
  CHECK_FALSE(device::device_fact(device, "sm_cout"));
  CHECK(device::device_fact_names().size() == 11);
}

}  // namespace tma_jit::templates
