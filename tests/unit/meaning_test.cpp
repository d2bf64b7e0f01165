// What a template's text says is the same whatever its comments and blanks, and the build's table of it is what is
// computed.
#include <doctest/doctest.h>

#include "source/headers.h"
#include "source/meaning.h"
#include "source/preamble.h"
#include "template/catalogue.h"
#include "tuning/problem_key.h"
#include "tuning/shipped_digests.h"

namespace tma_jit {
namespace {

bool alike(std::string_view a, std::string_view b) {
  return source::meaning_of(a) == source::meaning_of(b);
}

constexpr std::string_view kText = R"(//! kernel k "doubles"
//! dim    N in 1..100
//! param  BN = 64 in {64, 128} "columns"
// A comment.
#define TWICE(x) (2 * (x))
__device__ int f(int a) { return TWICE(a) + 1; }
)";

std::string with(std::string_view before, std::string_view after) {
  std::string text(kText);
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace

TEST_CASE("comments, descriptions and blanks between tokens change no meaning") {
  CHECK(alike(kText, with("// A comment.", "/* Another,\nlonger one. */")));
  CHECK(alike(kText, with("// A comment.\n", "")));
  CHECK(alike(kText, with("\"doubles\"", "\"multiplies by two\"")));
  CHECK(alike(kText, with(" \"columns\"", "")));
  CHECK(alike(kText, with("dim    N", "dim N")));
  CHECK(alike(kText, with("return TWICE(a) + 1;", "\n  return TWICE( a )+1; // the result\n")));
}

TEST_CASE("everything else does") {
  CHECK_FALSE(alike(kText, with("1..100", "1..200")));
  CHECK_FALSE(alike(kText, with("BN = 64", "BN = 128")));
  CHECK_FALSE(alike(kText, with("{64, 128}", "{64, 128, 256}")));
  CHECK_FALSE(alike(kText, with("+ 1", "- 1")));
  CHECK_FALSE(alike(kText, with("int a", "int  b")));
  CHECK_FALSE(alike(kText, with("TWICE(x)", "TWICE (x)")));  // then it is a macro without parameters
  CHECK_FALSE(alike("#define A\nB", "#define A B"));
  CHECK_FALSE(alike("a >> b", "a > > b"));
  CHECK_FALSE(alike("a >> b", "a >\n> b"));
  CHECK_FALSE(alike("\"a  b\"", "\"a b\""));
  CHECK_FALSE(alike("\"// a\"", "\"// b\""));
  CHECK_FALSE(alike("int ab", "int a b"));
}

TEST_CASE("the digests that the build computed are those of the library's templates") {
  templates::TemplateSet set;
  std::size_t found = 0;
  for (const auto& kernel : set.all()) {
    REQUIRE_MESSAGE(kernel, kernel.error().text());
    const auto shipped = tuning::shipped_digest((*kernel)->file());
    if (!shipped) continue;  // of a library for another machine
    const auto headers = source::reachable_headers(
        {{source::kPreambleName, source::preamble_includes({})}, {(*kernel)->file(), (*kernel)->text()}},
        [&](std::string_view name) { return set.header(name); });
    REQUIRE_MESSAGE(headers, headers.error().text());
    CHECK(*shipped == tuning::digest_of({(*kernel)->file(), (*kernel)->text(), (*kernel)->used_text(), *headers}));
    ++found;
  }
#ifdef __x86_64__
  CHECK(found > 50);
#endif
  CHECK_FALSE(tuning::shipped_digest("templates/kernels/gemm_wgmma"));
}

}  // namespace tma_jit
