// Forms of instructions against scalar formulas: one kernel per form, one thread per row of inputs.
#pragma once

#include <array>
#include <bit>
#include <functional>
#include <random>
#include <string>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing::forms {

constexpr int kRows = 256;

struct Inputs {
  u64 a, b, c;
};

// `text` computes X0 from X1, X2 and X3, where X is %h, %r or %d depending on the widths of the operands and the
// result.
struct Form {
  std::string text;
  int from, to;  // widths in bytes
  std::function<u64(u64 a, u64 b, u64 c)> expected;
};

inline std::string named(std::string text, char letter, const char* stem) {
  for (std::size_t at; (at = text.find(letter)) != std::string::npos;) text.replace(at, 1, stem);
  return text;
}

// In the text, '@' stands for the register stem of the sources and '#' for that of the result.
inline std::string body_of(const Form& form) {
  const auto stem = [](int bytes) { return bytes == 2 ? "%h" : bytes == 4 ? "%r" : "%d"; };
  const auto bits = [](int bytes) { return std::to_string(8 * bytes); };
  std::string body = "mul.wide.u32 %d20, %t, 32; add.s64 %d21, %base, %d20;\n";
  for (int i = 1; i <= 3; ++i) {
    body += "ld.global.b" + bits(form.from) + " " + stem(form.from) + std::to_string(i) + ", [%d21+" +
            std::to_string(8 * (i - 1)) + "];\n";
  }
  body += named(named(form.text, '#', stem(form.to)), '@', stem(form.from)) + "\n";
  return body + "st.global.b" + bits(form.to) + " [%d21+24], " + stem(form.to) + "10;\n";
}

inline u64 edge(std::mt19937_64& random) {
  static constexpr u64 kEdges[] = {0,          1,          2,          31,         32,      33,           63,
                                   0x7f,       0x80,       0xff,       0x7fff,     0x8000,  0xffff,       0x7fffffff,
                                   0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, ~u64{0}, u64{1} << 63, 0x7f800000,
                                   0x00000001, 0x3c003c00, 0x80008000};
  return random() % 3 == 0 ? kEdges[random() % std::size(kEdges)] : random();
}

inline bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

inline u64 low(u64 value, int bytes) {
  return bytes == 8 ? value : value & ((u64{1} << (8 * bytes)) - 1);
}

inline void check_form(const Form& form, const std::array<Inputs, kRows>& inputs, const char* arch) {
  CAPTURE(form.text);
  TestMemory memory(device_of(arch), kRows * 32);
  u64* const words = memory.as<u64>();
  for (int i = 0; i < kRows; ++i) {
    const Inputs& in = inputs[static_cast<std::size_t>(i)];
    words[4 * i] = in.a;
    words[4 * i + 1] = in.b;
    words[4 * i + 2] = in.c;
    words[4 * i + 3] = 0;
  }
  run_ptx(kernel_text(body_of(form), arch), memory, {.block = kRows}, arch);
  for (int i = 0; i < kRows; ++i) {
    const Inputs& in = inputs[static_cast<std::size_t>(i)];
    const u64 a = low(in.a, form.from), b = low(in.b, form.from), c = low(in.c, form.from);
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    REQUIRE(low(words[4 * i + 3], form.to) == low(form.expected(a, b, c), form.to));
  }
}

inline void check_forms(const std::vector<Form>& forms, Inputs (*make)(std::mt19937_64&),
                        const char* arch = "sm_100a") {
  std::mt19937_64 random(3);
  for (const Form& form : forms) {
    std::array<Inputs, kRows> inputs{};
    for (Inputs& in : inputs) in = make(random);
    check_form(form, inputs, arch);
  }
}

// Adds bits 1 to 3 to #10: the values of %p2, %p4 and %p5.
inline std::string more(const std::string& bits) {
  std::string text;
  for (const auto& [predicate, value] : {std::pair{"%p2", "2"}, {"%p4", "4"}, {"%p5", "8"}})
    text += " selp.b" + bits + " #11, " + value + ", 0, " + predicate + "; or.b" + bits + " #10, #10, #11;";
  return text;
}

inline Inputs any_bits(std::mt19937_64& random) {
  return {edge(random), edge(random), edge(random)};
}

inline s32 s(u64 x) {
  return static_cast<s32>(static_cast<u32>(x));
}
inline u32 u(u64 x) {
  return static_cast<u32>(x);
}
inline float f(u64 x) {
  return std::bit_cast<float>(static_cast<u32>(x));
}
inline double g(u64 x) {
  return std::bit_cast<double>(x);
}
inline u64 bits(float x) {
  return std::bit_cast<u32>(x);
}
inline u64 bits(double x) {
  return std::bit_cast<u64>(x);
}

}  // namespace tma_jit::testing::forms
