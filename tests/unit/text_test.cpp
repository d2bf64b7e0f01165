#include "base/text.h"

#include <doctest/doctest.h>

#include "base/digest.h"

namespace tma_jit {

TEST_CASE("a suggestion names the nearest word and only a near one") {
  const std::vector<std::string> names = {"STAGES", "BM", "BN"};
  CHECK(suggestion("STAGE", names) == "; did you mean \"STAGES\"?");
  CHECK(suggestion("WARPS", names).empty());
}

TEST_CASE("split keeps empty parts") {
  CHECK(split("a::b", ':').size() == 3);
}

TEST_CASE("SHA-256 of abc is the value in FIPS 180-4") {
  CHECK(to_hex(sha256("abc", 3)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace tma_jit
