// Words of the command line.
#include "text.h"

#include <doctest/doctest.h>

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

TEST_CASE("lists") {
  CHECK(split_commas("sm_90a, sm_100a") == std::vector<std::string>{"sm_90a", "sm_100a"});
  CHECK(split_commas("a,") == std::vector<std::string>{"a", ""});
}

TEST_CASE("sizes for people") {
  CHECK(readable_bytes(512) == "512 B");
  CHECK(readable_bytes(1536) == "1.5 KiB");
  CHECK(readable_bytes(std::uint64_t{3} << 30) == "3.0 GiB");
}

}  // namespace
}  // namespace tma_jit::cli
