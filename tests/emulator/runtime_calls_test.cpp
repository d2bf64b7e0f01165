// Functions of the device runtime: printf, assert, malloc and free. Needs NVRTC.
#include "emulator/cuda_kernel.h"
#include "emulator/runtime/print_format.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr const char* kArchs[] = {"sm_90a", "sm_100a", "sm_121a"};

struct Ran {
  std::string printed, fault;
  std::vector<std::uint32_t> words;
};

// Runs `test(unsigned* out)` on 64 words of 0.
Ran run_cuda(const std::string& cuda, const std::string& arch, RunShape shape = {}) {
  CAPTURE(arch);
  PrintedText printed(arch);
  TestMemory memory(device_of(arch), 256);
  std::memset(memory.as<char>(), 0, 256);
  Ran ran;
  ran.fault = fault_of(ptx_of(cuda, arch), memory, shape, arch);
  ran.printed = printed.take();
  ran.words.assign(memory.as<std::uint32_t>(), memory.as<std::uint32_t>() + 64);
  return ran;
}

std::string body(const std::string& text) {
  return "extern \"C\" __global__ void test(unsigned* out) {\n  int t = threadIdx.x;\n" + text + "\n}\n";
}

}  // namespace

TEST_CASE("printf prints what the host's would, lane by lane, in the order of execution") {
  const std::string text = body(
      "if (t < 3) out[t] = printf(\"%d|%5u|%-4x|%lld|%+.2f|%e|%g|%s|%c|%%|%p|%*.*f|%hd\\n\", t - 1, 7u, 255, 1ll << "
      "40,\n"
      "  t * 1.5f, 1.0 / 3, 1e-7, t == 1 ? \"one\" : \"more\", 'a' + t, (void*)nullptr, 9, 3, 2.5, (short)-3);\n"
      "__syncwarp();\nif (t == 31) printf(\"no arguments\\n\");");
  std::string expected;
  for (int t = 0; t < 3; ++t) {
    char line[256];
    std::snprintf(line, sizeof line, "%d|%5u|%-4x|%lld|%+.2f|%e|%g|%s|%c|%%|%p|%*.*f|%hd\n", t - 1, 7U, 255U, 1LL << 40,
                  t * 1.5, 1.0 / 3, 1e-7, t == 1 ? "one" : "more", 'a' + t, static_cast<void*>(nullptr), 9, 3, 2.5,
                  static_cast<short>(-3));
    expected += line;
  }
  expected += "no arguments\n";
  for (const char* arch : kArchs) {
    const Ran ran = run_cuda(text, arch);
    CHECK(ran.fault == "");
    CHECK(ran.printed == expected);
    CHECK(ran.words[1] == 14);  // number of arguments, including a width and a precision
  }
}

TEST_CASE("formats that nobody should write") {
  const auto printed = [](std::string_view format, std::vector<std::uint64_t> words = {}) {
    const emulator::runtime::PrintSource source = {
        [&](std::uint64_t offset, std::uint32_t bytes) {
          REQUIRE(offset + bytes <= 8 * words.size());
          std::uint64_t value = 0;
          std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + offset, bytes);
          return value;
        },
        [](std::uint64_t) { return std::string("text"); }};
    return emulator::runtime::print_formatted(format, source).text;
  };
  CHECK(printed("") == "");
  CHECK(printed("100%") == "100%");
  CHECK(printed("%") == "%");
  CHECK(printed("%k and %-+5k") == "%k and %-+5k");
  CHECK(printed("%n") == "%n");
  CHECK(printed("%.") == "%.");
  CHECK(printed("%ll") == "%ll");
  CHECK(printed("%s", {0}) == "(null)");
  CHECK(printed("%.2s", {1}) == "te");
  CHECK(printed("%-*d|", {(std::uint64_t{7} << 32) | static_cast<std::uint32_t>(-4)}) == "7   |");
  CHECK(printed("%999999999999d", {1}).size() == 4096);
  CHECK(printed("%zu %jd %hhx", {5, ~std::uint64_t{0}, 255}) == "5 -1 ff");
}

TEST_CASE("a failed assertion names expression, file, line, function and thread; what was printed before is seen") {
  const std::string text =
      "extern \"C\" __global__ void test(unsigned* out) {\n"
      "  if (threadIdx.x == 5) printf(\"before\\n\");\n  __syncwarp();\n  assert(threadIdx.x != 7);\n  out[0] = "
      "1;\n}\n";
  for (const char* arch : kArchs) {
    const Ran ran = run_cuda(text, arch);
    CAPTURE(ran.fault);
    CHECK(ran.fault.starts_with("trap"));
    CHECK(ran.fault.find("assertion `threadIdx.x != 7` failed") != std::string::npos);
    CHECK(ran.fault.find(":4: ") != std::string::npos);
    CHECK(ran.fault.find("thread: [7,0,0]") != std::string::npos);
    CHECK(ran.printed == "before\n");
  }
}

TEST_CASE("malloc gives each thread memory of its own until it frees it") {
  for (const char* arch : kArchs) {
    const std::uint64_t before = device_of(arch).memory.allocated();
    const Ran ran =
        run_cuda(body("unsigned* p = (unsigned*)malloc(4 * (t + 1)); for (int i = 0; i <= t; ++i) p[i] = i * t;\n"
                      "__syncwarp(); unsigned s = 0; for (int i = 0; i <= t; ++i) s += p[i];\n"
                      "out[t] = s; free(p); free(nullptr); out[32 + t] = malloc(64u << 20) == nullptr;"),
                 arch);
    CHECK(ran.fault == "");
    for (std::uint32_t t = 0; t < 32; ++t) {
      CHECK(ran.words[t] == t * t * (t + 1) / 2);
      CHECK(ran.words[32 + t] == 1);  // larger than the heap
    }
    CHECK(device_of(arch).memory.allocated() == before);
  }
}

TEST_CASE("memory that one thread frees and another gets is no race") {
  const Ran ran =
      run_cuda(body("for (int i = 0; i < 20; ++i) { unsigned* p = (unsigned*)malloc(64 + t); p[i % 16] = t;\n"
                    "  unsigned s = p[i % 16]; free(p); out[t] += s; }"),
               "sm_90a", {.block = 64});
  CHECK(ran.fault == "");
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(ran.words[t] == 20 * t);
}

TEST_CASE("misuse of the heap is reported") {
  const auto fault = [](const std::string& text) {
    const std::string found = run_cuda(body(text), "sm_90a").fault;
    INFO(found);
    return found;
  };
  const std::string take = "if (t != 0) return; volatile unsigned* p = (unsigned*)malloc(16); p[0] = 1;\n";
  CHECK(fault(take + "free((void*)p); out[0] = p[0];").starts_with("out of bounds"));
  CHECK(fault(take + "p[4] = 1; free((void*)p);").find("that a kernel allocated") != std::string::npos);
  CHECK(fault(take + "free((void*)p); free((void*)p);").find("free already") != std::string::npos);
  CHECK(fault(take + "free((void*)(p + 1));").starts_with("out of bounds"));
  CHECK(fault("free(out);").starts_with("out of bounds"));
}

TEST_CASE("memory of one launch's malloc is another's to use and to free") {
  TestMemory memory(device_of("sm_90a"), 256);
  const auto run = [&](const std::string& text) { return fault_of(ptx_of(body(text), "sm_90a"), memory); };
  CHECK(run("if (t == 0) { int* p = (int*)malloc(64); p[3] = 42; *(int**)out = p; }") == "");
  CHECK(run("if (t == 0) { int* p = *(int**)out; out[4] = p[3]; free(p); }") == "");
  CHECK(memory.as<std::uint32_t>()[4] == 42);
  CHECK(run("if (t == 0) free(*(int**)out);").starts_with("out of bounds"));
}

TEST_CASE("Forms: calls of the runtime with wrong values are refused") {
  const auto report = [](const std::string& call, const std::string& declared) {
    TestMemory memory(device_of("sm_90a"), 64);
    return fault_of(kernel_text("{ .param .b64 a; .param .b64 b; .param .b64 r; st.param.b64 [a], 0; st.param.b64 [b], "
                                "0;\n" +
                                    call + " }",
                                "sm_90a", declared),
                    memory);
  };
  const std::string print = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";
  CHECK(report("call.uni (r), vprintf, (a, b);", print) == "");
  CHECK(report("call.uni (r), vprintf, (a);", print).starts_with("syntax"));
  CHECK(report("call.uni (r), free, (a);", ".extern .func free(.param .b64 a);\n").starts_with("syntax"));
  CHECK(report("call.uni (r), vprintf, (%t, b);", print).starts_with("unsupported"));
  CHECK(report("call.uni (r), frobnicate, (a);", ".extern .func (.param .b64 r) frobnicate(.param .b64 a);\n")
            .starts_with("unsupported"));
  CHECK(report("st.param.b64 [a], 16; call.uni (r), vprintf, (a, b);", print).starts_with("out of bounds"));
}
