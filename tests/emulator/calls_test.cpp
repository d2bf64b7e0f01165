// Out-of-line calls: through pointers, tables and virtual functions, and recursion. Needs NVRTC.
#include "emulator/cuda_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr const char* kArchs[] = {"sm_90a", "sm_100a", "sm_121a"};

std::vector<u32> run_cuda(const std::string& cuda, const std::string& arch, RunShape shape = {}) {
  CAPTURE(arch);
  TestMemory memory(device_of(arch), 1024);
  std::memset(memory.as<char>(), 0, 1024);
  CHECK(fault_of(ptx_of(cuda, arch), memory, shape, arch) == "");
  return {memory.as<u32>(), memory.as<u32>() + 256};
}

u32 fibonacci(u32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

}  // namespace

TEST_CASE("each lane calls the function that its pointer names, from a register and from a table") {
  const std::string cuda =
      "typedef unsigned (*Op)(unsigned, unsigned);\n"
      "__device__ __noinline__ unsigned add(unsigned a, unsigned b) { return a + b; }\n"
      "__device__ __noinline__ unsigned mul(unsigned a, unsigned b) { return a * b; }\n"
      "__device__ __noinline__ unsigned nested(unsigned a, unsigned b) { return add(mul(a, b), 1000); }\n"
      "__device__ Op table[3] = {add, mul, nested};\n"
      "extern \"C\" __global__ void test(unsigned* out) {\n"
      "  unsigned t = threadIdx.x;\n"
      "  out[t] = table[t % 3](t, 7);\n"
      "  Op op = t % 2 ? add : nested;\n"
      "  out[t + 64] = op(out[t], 3);\n"
      "  __syncwarp();\n"
      "  out[t + 128] = __shfl_xor_sync(~0u, out[t], 1);\n"  // reconverged
      "}\n";
  for (const char* arch : kArchs) {
    const auto out = run_cuda(cuda, arch, {.block = 64});
    for (u32 t = 0; t < 64; ++t) {
      const auto first = [](u32 i) { return i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i * 7 + 1000; };
      CHECK(out[t] == first(t));
      CHECK(out[t + 64] == (t % 2 != 0 ? first(t) + 3 : first(t) * 3 + 1000));
      CHECK(out[t + 128] == first(t ^ 1));
    }
  }
}

TEST_CASE("lanes recurse to depths of their own, each with its registers and its local memory") {
  const std::string cuda =
      "__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
      // Every level has an array of its own and a pointer to that of its caller.
      "__device__ __noinline__ unsigned chain(unsigned n, unsigned* above) {\n"
      "  unsigned mine[4]; for (int i = 0; i < 4; ++i) mine[i] = n * 10 + i;\n"
      "  if (above) above[n % 4] += 1;\n"
      "  if (n == 0) return mine[0];\n"
      "  unsigned below = chain(n - 1, mine);\n"
      "  return below + mine[0] + mine[1] + mine[2] + mine[3];\n"
      "}\n"
      "extern \"C\" __global__ void test(unsigned* out) {\n"
      "  out[threadIdx.x] = fib(threadIdx.x % 11);\n"
      "  out[threadIdx.x + 64] = chain(threadIdx.x % 6, nullptr);\n"
      "}\n";
  const auto chain = [](u32 n) {
    u32 sum = 0;
    for (u32 i = 1; i <= n; ++i) sum += 40 * i + 6 + 1;  // four elements, one of them incremented by the callee
    return sum;
  };
  for (const char* arch : kArchs) {
    const auto out = run_cuda(cuda, arch, {.block = 64});
    for (u32 t = 0; t < 64; ++t) {
      CHECK(out[t] == fibonacci(t % 11));
      CHECK(out[t + 64] == chain(t % 6));
    }
  }
}

TEST_CASE("virtual functions, and functions that call each other") {
  const std::string cuda =
      "struct Shape { __device__ virtual unsigned area() const = 0; };\n"
      "struct Square : Shape { unsigned s; __device__ Square(unsigned x) : s(x) {}\n"
      "  __device__ unsigned area() const override { return s * s; } };\n"
      "struct Box : Shape { unsigned a, b; __device__ Box(unsigned x, unsigned y) : a(x), b(y) {}\n"
      "  __device__ unsigned area() const override { return a * b; } };\n"
      "__device__ __noinline__ bool odd(unsigned n);\n"
      "__device__ __noinline__ bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }\n"
      "__device__ __noinline__ bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }\n"
      "struct Big { unsigned v[6]; };\n"
      "__device__ __noinline__ Big twice(Big b, int n) {\n"
      "  for (int i = 0; i < 6; ++i) b.v[i] += i; return n > 0 ? twice(b, n - 1) : b; }\n"
      "extern \"C\" __global__ void test(unsigned* out) {\n"
      "  unsigned t = threadIdx.x;\n"
      "  Shape* shape = t % 2 ? (Shape*)new Square(t) : (Shape*)new Box(t, 3);\n"
      "  out[t] = shape->area(); delete shape;\n"
      "  out[t + 64] = even(t);\n"
      "  Big big = {t, t, t, t, t, t}; big = twice(big, t % 4);\n"
      "  out[t + 128] = big.v[0] + big.v[5];\n"
      "}\n";
  for (const char* arch : kArchs) {
    const auto out = run_cuda(cuda, arch, {.block = 64});
    for (u32 t = 0; t < 64; ++t) {
      CHECK(out[t] == (t % 2 != 0 ? t * t : t * 3));
      CHECK(out[t + 64] == (t % 2 == 0 ? 1 : 0));
      CHECK(out[t + 128] == 2 * t + 5 * (t % 4 + 1));
    }
  }
}

namespace {

std::string fault_in(const std::string& functions, const std::string& body) {
  TestMemory memory(device_of("sm_90a"), 256);
  std::memset(memory.as<char>(), 0, 256);
  const std::string fault = fault_of(kernel_text(body, "sm_90a", functions), memory);
  INFO(fault);
  return fault;
}

constexpr const char* kAdd =
    ".func (.param .b32 r) add(.param .b32 a) { .reg .b32 %x<3>; ld.param.b32 %x1, [a]; add.u32 %x2, %x1, 5; "
    "st.param.b32 [r], %x2; ret; }\n";
constexpr const char* kPass = "{ .param .b32 v; .param .b32 w; st.param.b32 [v], %t; ";
constexpr const char* kStore =
    "ld.param.b32 %r2, [w]; mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %base; "
    "st.global.u32 [%d2], %r2; }";

}  // namespace

TEST_CASE("calls through registers in PTX by hand: prototypes, lists of targets, guards") {
  const std::string proto = "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n";
  for (const std::string& call : std::vector<std::string>{
           proto + "mov.u64 %d1, add; call (w), %d1, (v), p;",
           "p: .calltargets add;\nmov.u64 %d1, add; call (w), %d1, (v), p;",
           std::string("st.param.b32 [w], 9; setp.gt.u32 %p1, %t, 3; @%p1 call.uni (w), add, (v);")}) {
    CAPTURE(call);
    TestMemory memory(device_of("sm_90a"), 256);
    run_ptx(kernel_text(kPass + call + kStore, "sm_90a", kAdd), memory);
    const bool guarded = call.find("@%p1") != std::string::npos;
    for (u32 t = 0; t < 32; ++t) CHECK(memory.as<u32>()[t] == (guarded && t <= 3 ? 9 : t + 5));
  }
}

TEST_CASE("Bad calls are reported") {
  const std::string proto = "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n";
  const auto with = [&](const std::string& text) { return fault_in(kAdd, kPass + text + kStore); };
  CHECK(with(proto + "mov.u64 %d1, 77; call (w), %d1, (v), p;").starts_with("out of bounds"));
  CHECK(with(proto + "mov.u64 %d1, %base; call (w), %d1, (v), p;").find("no function's address") != std::string::npos);
  CHECK(with("mov.u64 %d1, add; call (w), %d1, (v), p;").starts_with("syntax"));
  CHECK(with("p: .callprototype (.param .b32 _) _ (.param .b64 _);\nmov.u64 %d1, add; call (w), %d1, (v), p;")
            .find("[8] bytes") != std::string::npos);
  CHECK(with(proto + "mov.u64 %d1, add; call (w), %d1, p;").starts_with("syntax"));
  CHECK(with(proto + "mov.u32 %r1, 3; call (w), %r1, (v), p;").starts_with("syntax"));
  CHECK(with("p: .calltargets nothing;\nmov.u64 %d1, add; call (w), %d1, (v), p;").starts_with("syntax"));
  CHECK(with("p: .callprototype _;\np: .callprototype _;\n").starts_with("syntax"));
  CHECK(with("mov.u64 %d1, nothing;").starts_with("unsupported"));
  CHECK(with("call (w), 5, (v);").starts_with("syntax"));
  CHECK(fault_in(".func f() { call.uni f; ret; }\n", "call.uni f;").find("recursion that does not end?") !=
        std::string::npos);
  CHECK(fault_in(".func f() { .local .b8 big[100000]; call.uni f; ret; }\n", "call.uni f;").find("6 calls deep") !=
        std::string::npos);
}

TEST_CASE("Variables of one name in several scopes are several variables") {
  // The second call's argument is narrower than the first one's.
  const std::string functions =
      ".func (.param .b64 r) wide(.param .b64 a) { .reg .b64 %y; ld.param.b64 %y, [a]; st.param.b64 [r], %y; ret; }\n" +
      std::string(kAdd);
  TestMemory memory(device_of("sm_90a"), 512);
  run_ptx(
      kernel_text("{ .param .b64 v; .param .b64 w; mov.u64 %d1, 0x1122334455667788; st.param.b64 [v], %d1; call.uni "
                  "(w), wide, (v); ld.param.b64 %d3, [w]; }\n{ .param .b32 v; .param .b32 w; st.param.b32 [v], %t; "
                  "call.uni (w), add, (v); ld.param.b32 %r2, [w]; }\n"
                  "mul.wide.u32 %d2, %t, 16; add.u64 %d2, %d2, %base; cvt.u64.u32 %d4, %r2; st.global.v2.u64 [%d2], "
                  "{%d3, %d4};",
                  "sm_90a", functions),
      memory);
  for (u32 t = 0; t < 32; ++t) {
    CHECK(memory.as<std::uint64_t>()[2 * t] == 0x1122334455667788);
    CHECK(memory.as<std::uint64_t>()[2 * t + 1] == t + 5);
  }
}
