#include "base/text.h"

#include <doctest/doctest.h>

#include "base/digest.h"

namespace tma_jit {

TEST_CASE("a word is quoted so that a shell reads it back") {
  CHECK(quoted_for_shell("--std=c++17") == "--std=c++17");
  CHECK(quoted_for_shell("") == "''");
  CHECK(quoted_for_shell("it's $HOME;") == "'it'\\''s $HOME;'");
  CHECK(quoted_for_shell("a\nb's \\") == "$'a\\012b\\'s \\\\'");
}

TEST_CASE("split keeps empty parts") {
  CHECK(split("a::b", ':').size() == 3);
}

TEST_CASE("SHA-256 of abc is the value in FIPS 180-4") {
  CHECK(to_hex(sha256("abc", 3)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace tma_jit
