// How manifest lines may be laid out, which directives there are, and that no text crashes the parser.
#include "manifest_fixture.h"
#include "support/combinations.h"

namespace tma_jit::templates {

TEST_CASE("layout is free: tabs, indentation, carriage returns, no final newline, names apart from their place") {
  const Template t = parsed(
      "  //!kernel k\r\n\t//!\tarch\tsm_90a sm_100a\r\n//!\r\n//! launch grid GRID block 32\r\n//!let GRID = "
      "X\r\n//!param X=1 in{1}");
  CHECK(t.kernel == "k");
  CHECK(t.archs.size() == 2);
  CHECK(t.lets[0].value.text() == "X");
  CHECK(t.params[0].values == std::vector<std::int64_t>{1});
}

TEST_CASE("a caret stands under tabs and multi-byte characters") {
  const auto tabs = parse("k.cu", "//!\tparm X");
  CHECK(tabs.error().line() == "k.cu:1:5: unknown directive parm; did you mean \"param\"?");
  CHECK(tabs.error().detail == "//!\tparm X\n   \t^~~~");
  const auto wide = parse("k.cu", "//! kernel k \"\xc3\xa9\" x");
  CHECK(wide.error().message == "k.cu:1:19: expected the end of the line, found \"x\"");
  CHECK(wide.error().detail == "//! kernel k \"\xc3\xa9\" x\n                 ^");
}

TEST_CASE("a manifest needs a kernel, an architecture and a launch") {
  const auto message = [](std::string_view text) { return parse("k.cu", std::string(text)).error().message; };
  CHECK(message("") == "k.cu:1:1: there is no manifest: a template declares its kernel in lines that begin with //!");
  CHECK(message("\xEF\xBB\xBF//! kernel k\n").starts_with("k.cu:1:1: the file begins with a byte order mark"));
  CHECK(message("int x;\n// ! kernel k\n").starts_with("k.cu:1:1: there is no manifest"));
  CHECK(message("//! arch sm_90a\n") == "k.cu:1:1: the manifest names no kernel; add a line like //! kernel NAME");
  CHECK(message("//! kernel k\n") == "k.cu:1:1: the manifest names no architecture; add a line like //! arch sm_90a");
  CHECK(message("//! kernel k\n//! arch sm_90a\n") ==
        "k.cu:1:1: the manifest has no launch; add a line like //! launch grid X block THREADS");
}

TEST_CASE("directives that are unknown, misplaced or repeated") {
  check_refused({"//! tensr A : f32[1]", 5, 5, "unknown directive tensr; did you mean \"tensor\"?"});
  check_refused({"//! frobnicate", 5, 10, "unknown directive frobnicate"});
  check_refused({"//! 42", 5, 2, "expected a directive, found \"42\""});
  check_refused({"//! \"text\"", 5, 6, "expected a directive, found a text"});
  check_refused({"//! kernel other", 5, 6, "a second kernel; the first is on line 1"});
  check_refused({"//! launch grid 1 block 1", 5, 6, "a second launch; the first is on line 3"});
  check_refused({"//! kernel", 5, 6, "a second kernel; the first is on line 1"});
  check_refused("//! cluster 1\n", {"//! cluster 2", 5, 7, "a second cluster; the first is on line 1"});
  check_refused("//! work flops 1\n", {"//! work flops 2", 5, 4, "a second work; the first is on line 1"});
}

TEST_CASE("prefer") {
  CHECK(parsed(fmt::format("{}//! prefer 2 * 3 \"the fastest\"\n", kFrame)).preference == 6);
  CHECK(parsed(fmt::format("{}//! prefer -1\n", kFrame)).preference == -1);
  CHECK(parsed(kFrame).preference == 0);
  CHECK(kernel_info(parsed(fmt::format("{}//! prefer 2\n", kFrame))).preference == 2);
  check_refused({"//! prefer", 11, 1, "expected the file's preference, found the end of the line"});
  check_refused({"//! prefer BM", 12, 2, "a file's preference must be numbers, and BM is not one"});
  check_refused({"//! prefer 1 2", 14, 1, "expected an operator, a doc text or the end of the line, found \"2\""});
  check_refused("//! prefer 1\n", {"//! prefer 2", 5, 6, "a second prefer; the first is on line 1"});
}

TEST_CASE("kernel and arch") {
  check_refused("", {"//! kernel", 11, 1, "expected the name of the kernel, found the end of the line"});
  check_refused("", {"//! kernel 7", 12, 1, "expected the name of the kernel, found \"7\""});
  check_refused("", {"//! kernel int", 12, 3, "int is a word of C++ and cannot be declared"});
  check_refused("", {"//! kernel k k", 14, 1, "expected a doc text or the end of the line, found \"k\""});
  check_refused("", {"//! kernel k \"open", 14, 5, "the text is not closed with \""});
  check_refused({"//! arch", 9, 1, "expected an architecture like sm_90a, found the end of the line"});
  check_refused({"//! arch sm90", 10, 4, "sm90 is not an architecture; they are written like sm_90a"});
  check_refused({"//! arch sm_9x", 10, 5, "sm_9x is not an architecture; they are written like sm_90a"});
  check_refused({"//! arch sm_100a, sm_90a", 19, 6, "sm_90a is listed twice"});
  check_refused({"//! arch sm_100a,", 18, 1, "expected an architecture like sm_90a, found the end of the line"});
  check_refused({"//! arch sm_100a = 3", 18, 1, "expected an architecture or the end of the line, found \"=\""});
}

TEST_CASE("an error shows what is near of a long line") {
  const std::string sum(1000, '1');
  const auto result =
      parse("k.cu", fmt::format("{}//! let X = 0 * ({} é) + {}\n", kFrame, "2 + " + std::string(996, ' '), sum));
  REQUIRE_FALSE(result.has_value());
  const std::string& detail = result.error().detail;
  CHECK(detail.find("...") == 0);
  CHECK(detail.find("é) + 111") != std::string::npos);
  CHECK(detail.size() < 900);
  const std::size_t end = detail.find('\n');
  CHECK(detail.substr(0, end).ends_with("111..."));
  CHECK(detail.find("é") == detail.find('^') - end - 1);  // what stands before is ASCII
}

TEST_CASE("no prefix of a manifest crashes, and each that fails says where") {
  for (std::size_t size = 0; size <= kFull.size(); ++size) {
    const auto result = parse("k.cu", std::string(kFull.substr(0, size)));
    if (result) continue;
    CHECK(result.error().code == ErrorCode::parse);
    CHECK(result.error().message.starts_with("k.cu:"));
    CHECK(result.error().detail.find('^') != std::string::npos);
  }
}

TEST_CASE("no manifest with one byte changed or removed crashes") {
  for (std::size_t at = 0; at < kFull.size(); at += testing::byte_stride()) {
    std::string text(kFull);
    for (const char c : {'\0', '\n', '"', '(', ']', ' ', '9', 'x', '-', '\xff'}) {
      text[at] = c;
      const auto result = parse("k.cu", text);
      if (!result) REQUIRE(result.error().detail.find('^') != std::string::npos);
    }
    text.erase(at, 1);
    (void)parse("k.cu", text);
  }
}

}  // namespace tma_jit::templates
