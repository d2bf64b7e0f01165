// Words of the command line, and what is read from the text of declarations.
#include "text.h"

#include <doctest/doctest.h>

#include "kernel.h"

namespace tma_jit::cli {
namespace {

TEST_CASE("NAME=VALUE") {
  const auto pair = split_pair("apply=a == b ? a : b", "--hook");
  REQUIRE(pair.has_value());
  CHECK(pair->name == "apply");
  CHECK(pair->value == "a == b ? a : b");
  for (const char* word : {"M", "=3", "M=", "", "=", "1M=3", "a b=3"}) {
    const auto wrong = split_pair(word, "word");
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().exit == kUsage);
  }
  CHECK(split_pair("M", "word").error().error.message == "word \"M\": expected NAME=VALUE");
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(integer_in("4096") == 4096);
  CHECK(integer_in("-1") == -1);
  CHECK(integer_in("0x10") == 16);
  for (const char* text : {"", "4k", "1e3", " 1", "1 ", "9223372036854775808", "0x", "+1"})
    CHECK_FALSE(integer_in(text));
  CHECK(number_in("0.5") == 0.5);
  CHECK(number_in("1e-3") == 1e-3);
  CHECK_FALSE(number_in("0.5f"));
}

TEST_CASE("suggestions are near or absent") {
  const std::vector<std::string> verbs = {"doctor", "build", "bench"};
  CHECK(suggestion("biuld", verbs) == "");
  CHECK(suggestion("buid", verbs) == "; did you mean \"build\"?");
  CHECK(suggestion("zzz", verbs).empty());
}

TEST_CASE("tensor declarations") {
  const auto tensor = read_tensor("A : T[M, ceil_div(K, 2) + 1] box [BM, BK] swizzle 128 when INPUTS >= 2 out");
  REQUIRE(tensor.has_value());
  CHECK(tensor->type == "T");
  CHECK(tensor->shape == std::vector<std::string>{"M", "ceil_div(K, 2) + 1"});
  CHECK_FALSE(read_tensor("nonsense").has_value());
  CHECK(names_in_tensor_when("B : T[N] when INPUTS >= 2 out") == std::vector<std::string>{"INPUTS", "out"});
  CHECK(names_in_tensor_when("B : T[when_N] out").empty());
}

TEST_CASE("hook declarations") {
  const auto whens = names_in_hook_whens("apply(F a, F b when max(INPUTS, 1) >= 2, F c when (INPUTS >= 3)) : F");
  REQUIRE(whens.size() == 2);
  CHECK(whens.at("b") == std::vector<std::string>{"max", "INPUTS"});
  CHECK(whens.at("c") == std::vector<std::string>{"INPUTS"});
  Kernel kernel{"map", {KernelInfo{}}};
  kernel.files[0].hooks = {{"apply", "apply(F a, F b when INPUTS >= 2) : F", ""},
                           {"epilogue", "epilogue(f32 x, s32 row) : f32 = x", ""}};
  CHECK(placeholder_hooks(kernel) == std::map<std::string, std::string>{{"apply", "a"}});
}

TEST_CASE("sizes for people") {
  CHECK(readable_bytes(512) == "512 B");
  CHECK(readable_bytes(1536) == "1.5 KiB");
  CHECK(readable_bytes(std::uint64_t{3} << 30) == "3.0 GiB");
}

}  // namespace
}  // namespace tma_jit::cli
