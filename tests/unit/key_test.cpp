#include "source/key.h"

#include <set>

#include <doctest/doctest.h>

#include "source/preamble.h"

namespace tma_jit::source {
namespace {

constexpr std::string_view kCompiler = "nvrtc 13.0 aa bb";

Source some_source(const std::string& file = "templates/kernels/copy.cu") {
  Source source;
  source.kernel = source.entry = "copy";
  source.arch = "sm_90a";
  source.name = file;
  source.text = "#line 1 \"preamble\"\nconstexpr int BM = 128;\n" + line_directive(1, file) + "body\n";
  source.headers = {{"device/a.cuh", "A"}, {"device/b.cuh", "B"}};
  source.options = {"-std=c++17"};
  return source;
}

template <class Change> Key changed(Change change) {
  Source source = some_source();
  change(source);
  return key_of(source, kCompiler);
}

}  // namespace

TEST_CASE("a key is the same in every run and prints as 64 hex digits") {
  const Key key = key_of(some_source(), kCompiler);
  CHECK(key == key_of(some_source(), kCompiler));
  CHECK(key.hex().size() == 64);
}

TEST_CASE("every field changes the key, and each differently") {
  std::set<Key> keys = {key_of(some_source(), kCompiler),
                        key_of(some_source(), "nvrtc 13.0 aa bc"),
                        changed([](Source& s) { s.arch = "sm_90"; }),
                        changed([](Source& s) { s.entry = "copy2"; }),
                        changed([](Source& s) { s.text += " "; }),
                        changed([](Source& s) { s.text.replace(s.text.find("128"), 3, "129"); }),
                        changed([](Source& s) { s.headers[0].text = "A "; }),
                        changed([](Source& s) { s.headers[0].name = "device/c.cuh"; }),
                        changed([](Source& s) { s.headers.pop_back(); }),
                        changed([](Source& s) {
                          s.headers.push_back({"device/c.cuh", ""});
                        }),
                        changed([](Source& s) { s.options.emplace_back("-lineinfo"); }),
                        changed([](Source& s) { s.options.emplace_back("--maxrregcount=64"); }),
                        changed([](Source& s) { s.options = {"-std=c++20"}; }),
                        changed([](Source& s) { s.options.clear(); })};
  CHECK(keys.size() == 14);
}

TEST_CASE("bytes cannot move from one field to its neighbour unseen") {
  Source source = some_source();
  source.headers = {{"ab", "c"}};
  Source moved = source;
  moved.headers = {{"a", "bc"}};
  CHECK(key_of(source, kCompiler) != key_of(moved, kCompiler));
  source.options = {"-a", "b"};
  moved = source;
  moved.options = {"-ab"};
  CHECK(key_of(source, kCompiler) != key_of(moved, kCompiler));
}

TEST_CASE("what cannot change the cubin does not change the key") {
  const Key key = key_of(some_source(), kCompiler);
  CHECK(key == changed([](Source& s) { s.kernel = "another name"; }));
  CHECK(key == changed([](Source& s) { std::swap(s.headers[0], s.headers[1]); }));
  CHECK(key == changed([](Source& s) {
          s.options = {"--std=c++17", "--no-cache", "--ptxas-options=-v", "-diag-suppress=177"};
        }));
}

TEST_CASE("where a template lies does not change the key; its name does") {
  const Key key = key_of(some_source("templates/kernels/copy.cu"), kCompiler);
  CHECK(key == key_of(some_source("/home/someone/kernels/copy.cu"), kCompiler));
  CHECK(key == key_of(some_source("copy.cu"), kCompiler));
  CHECK(key != key_of(some_source("/home/someone/kernels/copy2.cu"), kCompiler));
}

TEST_CASE("where a template lies counts once the cubin can hold it") {
  const auto differs = [](const std::function<void(Source&)>& change) {
    Source here = some_source("a/copy.cu"), there = some_source("b/copy.cu");
    change(here);
    change(there);
    return key_of(here, kCompiler) != key_of(there, kCompiler);
  };
  CHECK(differs([](Source& s) { s.options.emplace_back("-lineinfo"); }));
  CHECK(differs([](Source& s) { s.text += "printf(__FILE__);"; }));
  CHECK(differs([](Source& s) { s.text += "assert(x);"; }));
  CHECK(differs([](Source& s) { s.headers[1].text = "const char* f = __builtin_FILE();"; }));
  CHECK_FALSE(differs([](Source& s) { s.text += "static_assert(true);"; }));
}

}  // namespace tma_jit::source
