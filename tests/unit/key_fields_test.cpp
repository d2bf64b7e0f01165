#include <algorithm>

#include <doctest/doctest.h>

#include "source/key.h"
#include "source/preamble.h"

namespace tma_jit::source {
namespace {

Source source_with(const char* constant, const char* hook = "x", const char* body = "void f();\n") {
  Source source;
  source.arch = "sm_90a";
  source.entry = "f";
  source.name = "templates/kernels/f.cu";
  source.text = line_directive(1, kPreambleName) + "using T = bf16;\nconstexpr int BM = " + constant +
                ";\nstruct Dims { int M; };\nstruct alignas(8) Hooks {\nOperand<bf16, 1, f32, true> bias;\nf32 "
                "alpha;\n__device__ f32 apply(f32 x) const {\n" +
                "return (\n" + hook + "\n);}\n};\n" + line_directive(1, source.name) + body;
  source.headers = {{"device/b.cuh", "b"}, {"device/a.cuh", "a"}};
  source.options = {"-std=c++20"};
  return source;
}

std::vector<std::string> differing(const Source& a, const Source& b) {
  const auto here = key_fields(a, "nvrtc"), there = key_fields(b, "nvrtc");
  REQUIRE(here.size() == there.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < here.size(); ++i) {
    CHECK(here[i].name == there[i].name);
    if (here[i].value != there[i].value) names.push_back(here[i].name);
  }
  return names;
}

}  // namespace

TEST_CASE("a key's fields are named in the order in which people look") {
  std::vector<std::string> names;
  for (const KeyField& field : key_fields(source_with("64"), "nvrtc")) names.push_back(field.name);
  CHECK(names == std::vector<std::string>{"arch", "compiler", "T", "BM", "bias", "alpha", "dims and hooks", "template",
                                          "device/a.cuh", "device/b.cuh", "options", "entry point"});
}

TEST_CASE("each part of a key shows under its own name, and keeps its text to itself") {
  const Source base = source_with("64");
  CHECK(differing(base, base).empty());
  CHECK(differing(base, source_with("128")) == std::vector<std::string>{"BM"});
  CHECK(differing(base, source_with("64", "constexpr int BM = 3;")) == std::vector<std::string>{"dims and hooks"});
  CHECK(differing(base, source_with("64", "x", "void g();\n")) == std::vector<std::string>{"template"});
  Source header = base;
  header.headers[0].text = "c";
  CHECK(differing(base, header) == std::vector<std::string>{"device/b.cuh"});
  for (const KeyField& field : key_fields(base, "nvrtc")) CHECK(field.value.find("void f") == std::string::npos);
}

TEST_CASE("a text without emission's preamble is one field") {
  Source plain;
  plain.text = "extern \"C\" __global__ void f() {}";
  const auto fields = key_fields(plain, "nvrtc");
  CHECK(std::ranges::count(fields, "text", &KeyField::name) == 1);
}

}  // namespace tma_jit::source
