#include "source/emit.h"

#include <limits>
#include <map>

#include <doctest/doctest.h>

#include "core/failure.h"
#include "source/preamble.h"
#include "source/preprocessor_lines.h"

namespace tma_jit::source {
namespace {

using Files = std::map<std::string, std::string, std::less<>>;

EmitOptions with_headers(Files files) {
  EmitOptions options;
  options.header = [files = std::move(files)](std::string_view name) -> Result<std::string> {
    if (const auto found = files.find(name); found != files.end()) return found->second;
    return failure(ErrorCode::not_found, "no header \"{}\"; known headers: device/types.cuh, device/tma.cuh", name);
  };
  return options;
}

EmitOptions only_types() {
  return with_headers({{"device/types.cuh", "#pragma once\nusing f32 = float;\n"}});
}

Constant integer(std::string name, std::int64_t value) {
  Constant constant;
  constant.name = std::move(name);
  constant.value = value;
  return constant;
}

Constant type(std::string name, DType dtype) {
  Constant constant;
  constant.name = std::move(name);
  constant.kind = Constant::Kind::type;
  constant.type = dtype;
  return constant;
}

Plan small_plan() {
  Plan plan;
  plan.kernel = plan.entry = "scale";
  plan.file = "templates/kernels/scale.cu";
  plan.body = "//! kernel scale\nextern \"C\" __global__ void scale() {}\n";
  plan.arch = "sm_90a";
  return plan;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the whole preamble, and the body untouched below its #line") {
  Plan plan = small_plan();
  plan.constants = {type("T", DType::bf16), integer("BM", 128)};
  plan.dims = {{"M", 64, false, false}, {"N", 8, true, false}, {"K", 4096, false, true}};
  plan.hooks = {{"apply", DType::f32, {{DType::f32, "a"}, {DType::f64, "b"}}, "a +\n  b"}};
  const Source source = emit(plan, only_types()).value();
  CHECK(source.text ==
        "#line 1 \"preamble\"\n"
        "#include \"device/types.cuh\"\n"
        "namespace tma_jit_constants {\n"
        "using T = bf16;\n"
        "constexpr int BM = 128;\n"
        "constexpr int K = 4096;\n"
        "}\n"
        "using namespace tma_jit_constants;\n"
        "struct Dims { int M; long long N; static constexpr int K = 4096; };\n"
        "struct alignas(8) Hooks {\n"
        "__device__ f32 apply(f32 a, f64 b) const {\n"
        "return (\n"
        "#line 1 \"hook apply\"\n"
        "a +\n"
        "  b\n"
        ");}\n"
        "#line 17 \"preamble\"\n"
        "};\n"
        "#line 1 \"templates/kernels/scale.cu\"\n" +
            plan.body);
  CHECK(source.name == plan.file);
  CHECK(source.options == std::vector<std::string>{"-std=c++17"});
}

TEST_CASE("a constant has the type its value needs") {
  Plan plan = small_plan();
  plan.constants = {integer("A", std::numeric_limits<std::int32_t>::max()),
                    integer("B", std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1),
                    integer("C", std::numeric_limits<std::int32_t>::min()),
                    integer("D", std::numeric_limits<std::int64_t>::min()), integer("E", -7)};
  const std::string text = preamble(plan);
  CHECK(holds(text, "constexpr int A = 2147483647;\n"));
  CHECK(holds(text, "constexpr long long B = 2147483648LL;\n"));
  CHECK(holds(text, "constexpr int C = (-2147483647 - 1);\n"));
  CHECK(holds(text, "constexpr long long D = (-9223372036854775807LL - 1);\n"));
  CHECK(holds(text, "constexpr int E = -7;\n"));
}

TEST_CASE("a fixed dim that is listed as a constant is declared once") {
  Plan plan = small_plan();
  plan.dims = {{"K", 64, false, true}};
  plan.constants = {integer("K", 64)};
  const std::string text = preamble(plan);
  CHECK(holds(
      text,
      "constexpr int K = 64;\n}\nusing namespace tma_jit_constants;\nstruct Dims { static constexpr int K = 64; };\n"));
}

TEST_CASE("a hook with a semicolon is a body, but not for one in a comment") {
  Plan plan = small_plan();
  plan.hooks = {{"f", DType::f32, {{DType::f32, "a"}}, "f32 b = a; return b;"},
                {"g", DType::f32, {{DType::f32, "a"}}, "a // a; b"}};
  const std::string text = preamble(plan);
  CHECK(holds(text, "f32 f(f32 a) const {\n#line 1 \"hook f\"\nf32 b = a; return b;\n}\n"));
  CHECK(text.find("#pragma nv_diag_error 117, 940\n__device__ f32 f") <
        text.find("#pragma nv_diag_default 117, 940\n"));
  CHECK(text.find("#pragma nv_diag_error") == text.rfind("#pragma nv_diag_error"));
  CHECK(holds(text, "f32 g(f32 a) const {\nreturn (\n#line 1 \"hook g\"\na // a; b\n);}\n"));
}

TEST_CASE("a generic hook says whether it is given, and is a template if it is and is an expression") {
  Plan plan = small_plan();
  plan.hooks = {{"f", DType::s32, {{DType::s32, "q"}, {DType::s32, "k"}}, "q < k"}};
  plan.hooks[0].generic = true;
  CHECK(holds(preamble(plan), "\"preamble\"\nstatic constexpr bool f_given = false, f_reads = false;\n#line"));
  plan.hooks[0].given = true;
  CHECK(holds(preamble(plan),
              "static constexpr bool f_given = true, f_reads = false;\ntemplate <class q_type, class k_type> "
              "__device__ auto f_of(q_type q, "
              "k_type k) const -> decltype(::tma_jit_value_of(\n"
              "#line 1 \"hook f\"\nq < k\n)) {\nreturn (\n#line 1 \"hook f\"\nq < k\n);\n}\n"));
  plan.hooks[0].text = "return q < k;";
  CHECK(holds(preamble(plan), "f_given = true, f_reads = false;\n#line"));
}

TEST_CASE("a hook's brackets must match, or the mistake would surface in the template") {
  const auto fault = [](std::string text) {
    Plan plan = small_plan();
    plan.hooks = {{"f", DType::f32, {{DType::f32, "a"}}, std::move(text)}};
    const auto source = emit(plan, only_types());
    return source ? std::string("fine") : source.error().text();
  };
  CHECK(fault("(a + b[1]) /* ( */") == "fine");
  CHECK(fault("(a\n + (b)") == "parse: hook f:1:1: error: \"(\" is never closed\n  (a\n  ^");
  CHECK(fault("a\n\t); } int x; (") == "parse: hook f:2:2: error: \")\" closes nothing\n  \t); } int x; (\n  \t^");
  CHECK(fault("/* \xC3\xA9 */ (a]") ==
        "parse: hook f:1:11: error: \"]\" does not close \"(\"\n  /* \xC3\xA9 */ (a]\n            ^");
}

TEST_CASE("a hook stays in its function, however its end is hidden") {
  const auto refused = [](std::string text, std::string_view why) {
    Plan plan = small_plan();
    plan.hooks = {{"f", DType::f32, {{DType::f32, "a"}}, std::move(text)}};
    const auto source = emit(plan, only_types());
    INFO(plan.hooks[0].text);
    REQUIRE_FALSE(source);
    CHECK(source.error().code == ErrorCode::parse);
    CHECK_MESSAGE(source.error().message.starts_with(why), source.error().message);
  };
  refused("return a; %> int x; <%", "hook f:1:11: error: the digraph %>");
  refused("a:>", "hook f:1:2: error: the digraph :>");
  refused("a; }\nint x;\n{", "hook f:1:4: error: \"}\" closes nothing");
  refused("#define X }\nreturn a; X int y; {", "hook f:1:1: error: #define; ");
  refused("a\n %:define X }", "hook f:2:1: error: a directive that begins with the digraph");
  refused("#if 1\nreturn a; }\n#else\n{\n#endif", "hook f:1:1: error: #if; ");
  refused("#include \"device/types.cuh\"\na", "hook f:1:1: error: #include; ");
  refused("/* b */ # /* c */ line 7 \"x\"\na", "hook f:1:9: error: #");
  refused("#pragma nv_diag_suppress 940\n;", "hook f:1:1: error: #pragma nv_diag_suppress");
  refused("a /* ); }", "hook f:1:1: error: a comment that is not closed");
  refused("a + R\"x()\" ", "hook f:1:1: error: a raw string literal that is not closed");
  refused("a // \\", "hook f:1:6: error: a backslash at the end");
  refused("a // ?\?/", "hook f:1:1: error: the trigraph ?\?/");
  refused(std::string("a\0 }", 4), "hook f:1:1: error: a NUL byte");
  refused("a + __TIME__", "hook f:1:1: error: __TIME__");
  const auto fine = [](std::string text) {
    Plan plan = small_plan();
    plan.hooks = {{"f", DType::f32, {{DType::f32, "a"}}, std::move(text)}};
    INFO(plan.hooks[0].text);
    CHECK(emit(plan, only_types()));
  };
  fine("#pragma unroll 4\nfor (int i = 0; i < 4; ++i) a *= 2;\nreturn a;");
  fine("static_cast<::f32>(a) + \")\"[0] + ')' /* ) */ // )");
}

TEST_CASE("an untrusted hook is an expression of its arguments and nothing else") {
  const auto checked = [](std::string text) {
    Plan plan = small_plan();
    plan.hooks = {{"f", DType::f32, {{DType::f32, "a"}, {DType::s32, "row"}}, std::move(text), true}};
    const auto source = emit(plan, only_types());
    return source ? std::string("fine") : source.error().message;
  };
  for (const char* text :
       {"a", "a * 2.0f + 1e-3f", "(a > 0 ? a : 0.1f * a)", "fmaxf(a, 0) / (1 + expf(-a))", "f32(row) * (f32)a",
        "-(~row) & 0xff", "row << 2 | row % 3", "a > 0 && !(row == 1) ? sqrt(a) : float(row)", "a - -a /* b */ // c"}) {
    INFO(text);
    CHECK(checked(text) == "fine");
  }
  for (const char* text : {"a;",
                           "a = 1",
                           "a += 1",
                           "--row",
                           "row++",
                           "a, a",
                           "return a",
                           "blockIdx.x",
                           "a.x",
                           "*(int*)0",
                           "(f32*)a",
                           "&a",
                           "asm(\"\")",
                           "[](){ return 1; }()",
                           "printf(\"x\")",
                           "\"x\"",
                           "sizeof(a)",
                           "other",
                           "f(a, row)",
                           "a::b",
                           "a->b",
                           "new int",
                           "__nanosleep(9)",
                           "a a",
                           "",
                           "()",
                           "sqrt()",
                           "a ?: a",
                           "a[0]",
                           "{a}",
                           "1 <=> 2",
                           "true ? a"}) {
    INFO(text);
    CHECK(checked(text).starts_with("hook f:1:"));
  }
  CHECK(checked("a +\n  other").starts_with("hook f:2:3: error: \"other\" is neither an argument"));
  CHECK(checked(std::string(1000, '(') + "a" + std::string(1000, ')')).find("nested more than 64 deep") !=
        std::string::npos);
  std::string signs;
  for (int i = 0; i < 100'000; ++i) signs += "- ";
  CHECK(checked(signs + "a").find("nested more than 64 deep") != std::string::npos);
}

TEST_CASE("a reference plan defines TMA_JIT_REFERENCE") {
  Plan plan = small_plan();
  CHECK_FALSE(holds(preamble(plan), "TMA_JIT_REFERENCE"));
  plan.reference = true;
  CHECK(holds(preamble(plan), "#define TMA_JIT_REFERENCE 1\n"));
}

TEST_CASE("a quote or backslash in a file name is escaped") {
  CHECK(line_directive(3, "a \"b\"\\c.cu") == "#line 3 \"a \\\"b\\\"\\\\c.cu\"\n");
}

TEST_CASE("line information is an option of the source") {
  EmitOptions options = only_types();
  options.line_info = true;
  CHECK(emit(small_plan(), options)->options == std::vector<std::string>{"-std=c++17", "-lineinfo"});
}

TEST_CASE("headers are the transitive closure, sorted, and nothing more") {
  Plan plan = small_plan();
  plan.body = "#include \"device/tma.cuh\"\n// #include \"device/none.cuh\"\n/*\n#include \"device/none.cuh\"\n*/\n";
  const EmitOptions options = with_headers({{"device/types.cuh", "a"},
                                            {"device/barrier.cuh", "#include \"device/types.cuh\""},
                                            {"device/tma.cuh", "  #  include \"device/barrier.cuh\" // why\n"},
                                            {"device/wgmma.cuh", "unused"}});
  const Source source = emit(plan, options).value();
  REQUIRE(source.headers.size() == 3);
  CHECK(source.headers[0].name == "device/barrier.cuh");
  CHECK(source.headers[1].name == "device/tma.cuh");
  CHECK(source.headers[2].name == "device/types.cuh");
}

TEST_CASE("a header named beside its includer is found, by a header that forwards to it") {
  Plan plan = small_plan();
  plan.body = "#include \"device/tma.cuh\"\n";
  const EmitOptions options =
      with_headers({{"device/types.cuh", "#pragma once\n"}, {"device/tma.cuh", "#include \"types.cuh\"\n"}});
  const Source source = emit(plan, options).value();
  REQUIRE(source.headers.size() == 3);
  CHECK(source.headers[2].name == "types.cuh");
  CHECK(holds(source.headers[2].text, "#include \"device/types.cuh\"\n"));
}

TEST_CASE("one relative name for two headers is refused") {
  Plan plan = small_plan();
  plan.body = "#include \"device/a.cuh\"\n#include \"other/b.cuh\"\n";
  const EmitOptions options = with_headers({{"device/types.cuh", ""},
                                            {"device/a.cuh", "#include \"x.cuh\"\n"},
                                            {"device/x.cuh", ""},
                                            {"other/b.cuh", "\n#include \"x.cuh\"\n"},
                                            {"other/x.cuh", ""}});
  const auto source = emit(plan, options);
  REQUIRE_FALSE(source);
  CHECK(source.error().message ==
        "other/b.cuh:2: \"x.cuh\" means other/x.cuh here and another header elsewhere; write the full name");
}

TEST_CASE("headers that include each other end") {
  Plan plan = small_plan();
  plan.body = "#include \"device/a.cuh\"\n";
  const EmitOptions options = with_headers({{"device/types.cuh", ""},
                                            {"device/a.cuh", "#pragma once\n#include \"device/b.cuh\"\n"},
                                            {"device/b.cuh", "#pragma once\n#include \"device/a.cuh\"\n"}});
  CHECK(emit(plan, options)->headers.size() == 3);
  CHECK(standalone(plan, options).has_value());
}

TEST_CASE("a missing header names the file, the line and what is known") {
  Plan plan = small_plan();
  plan.body = "//! kernel scale\n\n#include \"device/tmb.cuh\"\n";
  const auto source = emit(plan, only_types());
  REQUIRE_FALSE(source);
  CHECK(source.error().code == ErrorCode::not_found);
  CHECK(source.error().message == "templates/kernels/scale.cu:3: there is no header \"device/tmb.cuh\"");
  CHECK(source.error().detail == "no header \"device/tmb.cuh\"; known headers: device/types.cuh, device/tma.cuh");
}

TEST_CASE("a header that cannot be read is that error, not a missing header") {
  EmitOptions options;
  options.header = [](std::string_view) -> Result<std::string> { return failure(ErrorCode::io, "cannot read it"); };
  CHECK(emit(small_plan(), options).error().code == ErrorCode::io);
}

TEST_CASE("#include <...> is left to the compiler") {
  Plan plan = small_plan();
  plan.body = "#include <cuda/barrier>\n";
  CHECK(emit(plan, only_types())->headers.size() == 1);
}

TEST_CASE("a standalone file pastes each #pragma once header once and keeps the line numbers") {
  Plan plan = small_plan();
  plan.body = "//! kernel scale\n#include \"device/tma.cuh\"\n#include \"device/types.cuh\"\nint here;\n";
  const EmitOptions options =
      with_headers({{"device/types.cuh", "#pragma once\nusing f32 = float;\n"},
                    {"device/tma.cuh", "#pragma once\n#include \"device/types.cuh\"\nint tma;\n"}});
  const std::string text = standalone(plan, options).value();
  CHECK_FALSE(holds(text, "#include"));
  CHECK_FALSE(holds(text, "#pragma once"));
  CHECK(text.find("using f32") == text.rfind("using f32"));
  CHECK(holds(text, "#line 3 \"device/tma.cuh\"\nint tma;\n#endif\n"));
  CHECK(holds(text, "#line 4 \"templates/kernels/scale.cu\"\nint here;\n"));
  CHECK(holds(text, "nvcc -arch=sm_90a -cubin"));
}

TEST_CASE("a standalone file does not lose a header that was first included under a condition") {
  Plan plan = small_plan();
  plan.body = "#ifdef NEVER\n#include \"device/tma.cuh\"\n#endif\n#include \"device/tma.cuh\"\n";
  const EmitOptions options = with_headers({{"device/types.cuh", ""}, {"device/tma.cuh", "#pragma once\nint tma;\n"}});
  const std::string text = standalone(plan, options).value();
  CHECK(text.find("int tma;") != text.rfind("int tma;"));
  CHECK(holds(text, "#ifndef TMA_JIT_PASTED_"));
}

}  // namespace tma_jit::source
