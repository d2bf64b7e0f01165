#include "source/preprocessor_lines.h"

#include <doctest/doctest.h>

#include "core/failure.h"
#include "source/headers.h"

namespace tma_jit::source {
namespace {

using Kind = Directive::Kind;

std::string refusal_of(std::string_view text) {
  const Scan found = scan(text);
  return found.refusal ? fmt::format("{}: {}", found.refusal->line, found.refusal->what) : "";
}

bool refused(std::string_view text, std::string_view why) {
  INFO(text);
  const std::string what = refusal_of(text);
  CHECK_MESSAGE(what.find(why) != std::string::npos, what);
  return !what.empty();
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const Directive& directive : scan(text).directives) {
    if (!directive.argument.empty()) names.push_back(directive.argument);
  }
  return names;
}

using Names = std::vector<std::string>;

Result<std::vector<Header>> closure_of(std::string_view body) {
  return reachable_headers({{"k.cu", body}}, [](std::string_view name) -> Result<std::string> {
    if (name == "device/paste.cuh") return std::string("#define PASTE(a, b) a##b\n");
    if (name == "device/a.cuh") return std::string("#pragma once\n");
    return failure(ErrorCode::not_found, "no such header");
  });
}

}  // namespace

TEST_CASE("an #include is found however it is spelt") {
  const Names a = {"a.cuh"};
  CHECK(names_in("#include \"a.cuh\"") == a);
  CHECK(names_in("  #  include\t\"a.cuh\" // why\n") == a);
  CHECK(names_in("#inc\\\nlude \"a.cuh\"\n") == a);
  CHECK(names_in("#inc\\\r\nlude \"a.cuh\"\r\n") == a);
  CHECK(names_in("#\\\ninclude \"a.\\\ncuh\"\n") == a);
  CHECK(names_in("/* 1\n 2 */ # /* 3 */ include /* 4\n */ \"a.cuh\"\n") == a);
  CHECK(names_in("\v#\finclude\v\"a.cuh\"") == a);
  CHECK(names_in("#include<a.cuh>") == a);
  CHECK(names_in("#if 0\ndon't\n#endif\n#include \"a.cuh\"\n") == a);
  CHECK(names_in("auto s = R\"(\"/*)\";\n#include \"a.cuh\"\n/**/") == a);
  CHECK(names_in("int n = 1'000; /* x */\n#include \"a.cuh\"\n") == a);
  CHECK(names_in("char c = '\"'; // \"\n#include \"a.cuh\"\n") == a);
  CHECK(names_in("#if __has_include(\"a.cuh\") && defined(__has_include)\n#endif\n") == a);
  CHECK(names_in("#elif __has_include( <a.cuh> )\n") == a);
}

TEST_CASE("what only looks like an #include is none") {
  for (const char* text :
       {"// \\\n#include \"a.cuh\"\n", "/*\n#include \"a.cuh\"\n*/", "auto s = R\"x(\n#include \"a.cuh\"\n)x\";",
        "auto s = \"\\\n#include\";\n", "int a; #include \"a.cuh\"\n", "int a;\r#include \"a.cuh\"\n",
        "auto s = u8R\"(\n#include \"/etc/passwd\"\n)\";", "/\\\n* \n#include \"a.cuh\"\n*\\\n/"}) {
    INFO(text);
    CHECK(names_in(text).empty());
    CHECK(refusal_of(text).empty());
  }
}

TEST_CASE("what names no header of the closed set is refused by name and line") {
  CHECK(refused("\n#include \"/etc/passwd\"\n", "2: the absolute name \"/etc/passwd\""));
  CHECK(refused("#include </etc/passwd>\n", "absolute"));
  CHECK(refused("#inc\\\nlude \"/etc/passwd\"\n", "absolute"));
  CHECK(refused("#if __has_include(\"/etc/passwd\")\n#endif\n", "absolute"));
  CHECK(refused("#if 0\n#elif 0 && __has_include(\"/etc/passwd\")\n#endif\n", "absolute"));
  CHECK(refused("#define H \"/etc/passwd\"\n#include H\n", "2: an #include whose name is not written out"));
  CHECK(refused("#if __has_include(H)\n#endif\n", "__has_include whose name is not written out"));
  CHECK(refused("#define H __has_include\n", "__has_include whose name is not written out"));
  CHECK(refused("#if __has_include_next(\"a.cuh\")\n#endif\n", "__has_include_next"));
  CHECK(refused("#include_next \"a.cuh\"\n", "#include_next"));
  CHECK(refused("#import \"a.cuh\"\n", "#import"));
  CHECK(refused("#embed \"a.cuh\"\n", "#embed"));
  CHECK(refused("%:include \"a.cuh\"\n", "digraph"));
  CHECK(refused("int a;\n ?\?=include \"a.cuh\"\n", "2: the trigraph ?\?="));
  CHECK(refused("// what?\?/\nint b;", "1: the trigraph ?\?/"));
  CHECK(refused(std::string_view("int a;\n\0int b;", 14), "2: a NUL byte"));
}

TEST_CASE("what compilers read in two ways is refused") {
  CHECK(refused("#if 0\ndon't /*\n#endif\n#include \"a.cuh\"\n/* */", "2: an apostrophe"));
  CHECK(refused("#if 0\ndon\"t /*\n#endif\n/* */", "spans lines"));
  CHECK(refused("#if 0\n1'000 /*\n#endif\n*/", "spans lines"));
  CHECK(refused("don't R\"(\n)\"", "raw string literal that spans lines"));
  CHECK(refusal_of("don't /* x */ a\n").empty());
  CHECK(refusal_of("1'000'000; /* a\n b */\n") != "");
}

TEST_CASE("the time of the compile is refused, also where ## would make its name") {
  CHECK(refused("const char* when = __TIME__;\n", "__TIME__"));
  CHECK(refused("#define D __DA\\\nTE__\n", "__DATE__"));
  CHECK(refusal_of("// __DATE__\nauto s = \"__TIME__\";\n").empty());
  const auto made = closure_of("#include \"device/paste.cuh\"\nauto s = PASTE(__DA, TE__);\n");
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::parse);
  CHECK(made.error().message.starts_with("k.cu:2: refused: the identifier __DA"));
  CHECK_FALSE(closure_of("#include \"device/paste.cuh\"\n#if PASTE(__has_, include)(\"/etc/passwd\")\n#endif\n"));
  CHECK_FALSE(closure_of("#define P(a, b) a%:%:b\n#if P(__has_, include)(\"/etc/passwd\")\n#endif\n"));
  CHECK(closure_of("#if __has_\n#endif\nint _ = 1;"));
}

TEST_CASE("headers in angle brackets, and those only asked for, are of the closed set where there are such") {
  CHECK(closure_of("#include <device/a.cuh>\n")->size() == 1);
  CHECK(closure_of("#if __has_include(\"device/a.cuh\")\n#endif\n")->size() == 1);
  CHECK(closure_of("#if __has_include(\"device/b.cuh\")\n#endif\n")->empty());
  CHECK_FALSE(closure_of("#include \"device/b.cuh\"\n"));
}

TEST_CASE("directives in comments and strings do not count") {
  CHECK(scan("/* #if */ // #if\nconst char* s = \"/*\";\n#endif // \"x\n").directives.size() == 1);
  CHECK(blanked("a /* b\n c */ d // e\nf \"//g\"") == "a     \n      d     \nf      ");
  CHECK(blanked("R\"((;)\" ; L'\\'' // ;\\\n;") == "        ; L          \n ");
}

}  // namespace tma_jit::source
