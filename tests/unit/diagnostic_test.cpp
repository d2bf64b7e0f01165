#include "compile/diagnostic.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "compile/report.h"
#include "compile/resources.h"

namespace tma_jit::compile {
namespace {

using Severity = Diagnostic::Severity;

Source some_source() {
  Source source;
  source.kernel = source.entry = "k";
  source.name = "templates/kernels/k.cu";
  source.text = "#line 1 \"preamble\"\n#line 1 \"templates/kernels/k.cu\"\nbody\n";
  return source;
}

}  // namespace

TEST_CASE("an error of the compiler: position, message, source line and caret") {
  const auto parsed =
      parse_log("a (1): b.cu(12): error: identifier \"x\" is undefined\n  \tint y = x;\n  \t        ^\n\n");
  REQUIRE(parsed.size() == 1);
  CHECK(parsed[0].severity == Severity::error);
  CHECK(parsed[0].file == "a (1): b.cu");
  CHECK(parsed[0].line == 12);
  CHECK(parsed[0].column == 10);
  CHECK(parsed[0].source == "\tint y = x;");
  CHECK(headline(parsed[0]) == "a (1): b.cu:12:10: error: identifier \"x\" is undefined");
  CHECK(body(parsed[0]) == "\tint y = x;\n\t        ^");
}

TEST_CASE("notes, warnings with numbers, and text between the headline and the source") {
  const auto parsed = parse_log(
      "k.cu(3): error: no instance of overloaded function \"f\" matches the argument list\n"
      "            argument types are: (int)\n"
      "  f(1);\n"
      "  ^\n"
      "k.cu(1): note #3322-D: number of parameters of \"f\" does not match\n"
      "  void f(int, int);\n"
      "       ^\n"
      "\n"
      "k.cu(9): warning #177-D: variable \"v\" was declared but never referenced\n"
      "  int v;\n"
      "      ^\n"
      "\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n");
  REQUIRE(parsed.size() == 3);
  CHECK(body(parsed[0]) == "argument types are: (int)\nf(1);\n^");
  CHECK(parsed[1].severity == Severity::note);
  CHECK(parsed[1].number == "3322-D");
  CHECK(headline(parsed[2]) == "k.cu:9:5: warning #177-D: variable \"v\" was declared but never referenced");
}

TEST_CASE("errors without a place, and what is no diagnostic at all") {
  const auto parsed = parse_log("At end of source: error: expected a \"}\"\nCompilation terminated.\n");
  REQUIRE(parsed.size() == 1);
  CHECK(parsed[0].file.empty());
  CHECK(parsed[0].message == "expected a \"}\"");
  CHECK(parse_log("").empty());
  CHECK(parse_log("k.cu(x): error: no\n(3): error: no\nk.cu(3): remark: no\n\n  ^\n").empty());
}

TEST_CASE("the assembler's lines") {
  const auto parsed = parse_log(
      "ptxas application ptx input, line 34; error   : Unknown modifier '.x'\n"
      "ptxas fatal   : (C7602) Insufficient registers (80)\n"
      "ptxas info    : (C7510) Potential Performance Loss: serialized\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  REQUIRE(parsed.size() == 4);
  CHECK(parsed[0].line == 34);
  CHECK(headline(parsed[0]) == "error: ptxas: Unknown modifier '.x'");
  CHECK(headline(parsed[1]) == "error #C7602: ptxas: Insufficient registers (80)");
  CHECK(parsed[2].number == "C7510");
  CHECK(parsed[2].severity == Severity::info);
}

TEST_CASE("a log that is not understood is quoted whole") {
  const Error error = compile_error(some_source(), parse_log("segfault in cicc\n"), "segfault in cicc\n");
  CHECK(error.message == "templates/kernels/k.cu: NVRTC refused it without saying where");
  CHECK(error.detail == "segfault in cicc");
}

TEST_CASE("a refusal without an error names the static shared memory that is likely to be its reason") {
  const std::string log =
      "ptxas info    : Compiling entry function 'k' for 'sm_120a'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 240000 bytes smem\n";
  Source source = some_source();
  source.arch = "sm_120a";
  const Error error = compile_error(source, parse_log(log), log);
  CHECK(error.message ==
        "templates/kernels/k.cu: NVRTC refused it without saying why; its 240000 bytes of static shared memory may be "
        "too many for sm_120a: every target takes 49152, and what is beyond them belongs in dynamic shared memory "
        "(`smem` of `launch`)");
  CHECK(error.detail == trimmed(log));
}

TEST_CASE("warnings are not among a failed compile's errors") {
  const std::string log =
      "k.cu(1): warning #68-D: sign\n  a\n  ^\n\nk.cu(2): error: first\n  b\n  ^\n\nptxas fatal   : Ptx assembly "
      "aborted due to errors\n";
  const Error error = compile_error(some_source(), parse_log(log), log);
  CHECK(error.message == "k.cu:2:1: error: first");
  CHECK(error.detail == "b\n^");
}

TEST_CASE("resources of the entry; spills of what it calls; warnings and numbered advisories") {
  const std::string log =
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n"
      "ptxas application ptx input, line 7; warning : Advisory: slow\n"
      "ptxas info    : 68 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : Function properties for other\n"
      "ptxas         .     800 bytes stack frame, 90 bytes spill stores, 90 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers, 800 bytes cumulative stack size\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 2 barriers, 48 bytes cumulative stack size, 1040 bytes smem\n"
      "ptxas info    : Function properties for callee\n"
      "ptxas         .     32 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n";
  const Resources resources = parse_resources(log, "k", parse_log(log));
  CHECK(resources.registers == 168);
  CHECK(resources.stack_bytes == 48);
  CHECK(resources.static_shared_bytes == 1040);
  CHECK(resources.spill_store_bytes == 16);
  CHECK(resources.spill_load_bytes == 24);
  CHECK(resources.warnings == std::vector<std::string>{"ptxas: C7508 Potential Performance Loss: 'setmaxnreg' ignored",
                                                       "ptxas: Advisory: slow (PTX line 7)"});
}

}  // namespace tma_jit::compile
