// `use`: declarations that several templates share, in the manifest lines of a header.
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include "core/failure.h"
#include "support/temporary_folder.h"
#include "template/catalogue.h"

namespace tma_jit::templates {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProblem = R"(#pragma once
// A problem.
//! type    T = bf16  in {bf16, f16}
//! dim     M, N      "extents"
//! dim     K         when PARTS == 2
//! require BM <= 64  "few rows"
//! tensor  A : T[M, N]  when PARTS == 1  "the input"
//! tensor  D : T[M, N]  out
)";

constexpr std::string_view kKernel = R"(//! kernel  k
//! arch    sm_90a
//! use     "device/problem.cuh"
//! param   PARTS = 1  in {1, 2}
//! param   BM = 64    in {64, 128}
//! tensor  A  box [BM, 64]  swizzle 128
//! launch  grid M  block 32
)";

Result<Template> with(std::string_view text, const std::map<std::string, std::string>& headers) {
  return parse("k.cu", std::string(text), [&](std::string_view name) -> Result<std::string> {
    const auto found = headers.find(std::string(name));
    if (found == headers.end()) return failure(ErrorCode::not_found, "no header is named \"{}\"", name);
    return found->second;
  });
}

std::string refusal(std::string_view text, const std::string& problem) {
  const auto result = with(text, {{"device/problem.cuh", problem}});
  return result ? std::string() : result.error().message;
}

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string used_by(TemplateSet& set) {
  const auto found = set.find("k");
  if (!found) return found.error().text();
  return found->front()->dims.front().doc;
}

std::string problem_of(std::string_view doc) {
  std::string text(kProblem);
  return text.replace(text.find("extents"), 7, doc);
}

}  // namespace

TEST_CASE("what a template uses stands where it uses it, and knows its file and line") {
  const auto kernel = with(kKernel, {{"device/problem.cuh", std::string(kProblem)}});
  if (!kernel) FAIL(kernel.error().text());
  const KernelInfo info = kernel_info(*kernel);
  CHECK(kernel->order == std::vector<std::string>{"T", "M", "N", "K", "PARTS", "BM"});
  CHECK(info.dims[1].file == "device/problem.cuh");
  CHECK(info.dims[1].line == 4);
  CHECK(info.params[0].file == "k.cu");
  CHECK(info.params[0].line == 4);
  CHECK(!info.dims[1].when);
  REQUIRE(info.dims[2].when);
  CHECK(info.dims[2].when->text == "PARTS == 2");
  CHECK(kernel->text() == kKernel);
}

TEST_CASE("a template adds attributes to tensors that it uses") {
  const auto kernel = with(kKernel, {{"device/problem.cuh", std::string(kProblem)}});
  REQUIRE(kernel);
  const Tensor& a = kernel->tensors[0];
  CHECK(a.text == "A : T[M, N] when PARTS == 1 box [BM, 64] swizzle 128");
  CHECK(a.doc == "the input");
  CHECK(a.box->size() == 2);
  CHECK(a.when.has_value());
  CHECK(!kernel->tensors[1].box);
  const auto changed = [](std::string_view line) {
    return refusal(std::string(kKernel) + std::string(line), std::string(kProblem));
  };
  CHECK(changed("//! tensor D l2 64\n") == "k.cu:8:14: l2 needs a box: without one D has no tensor map");
  CHECK(changed("//! tensor D when BM == 64 out\n") == "k.cu:8:28: out is given twice");
  CHECK(changed("//! tensor D\n") == "k.cu:8:13: expected an attribute of D, found the end of the line");
  CHECK(changed("//! tensor D : T[M]\n") ==
        "k.cu:8:12: D is already declared, as a tensor on line 8 of device/problem.cuh");
}

TEST_CASE("a mistake in what is used is shown in its file") {
  CHECK(refusal(kKernel, "//! dim M\n//! dim Q in 3..2\n") == "device/problem.cuh:2:14: the range 3..2 is empty");
  const std::string problem(kProblem);
  CHECK(refusal(kKernel, problem + "//! require WIDE <= 64\n") == "device/problem.cuh:9:13: unknown name WIDE");
  CHECK(refusal(kKernel, "#pragma once\n//! dim M\n") == "k.cu:6:16: expected \":\" after A, found \"box\"");
  CHECK(refusal(kKernel, "//! param BM = 1 in {1}\n") ==
        "k.cu:5:13: BM is already declared, as a param on line 1 of device/problem.cuh");
  CHECK(refusal(kKernel, problem + "//! launch grid 1 block 1\n") ==
        "k.cu:7:5: a second launch; the first is on line 9 of device/problem.cuh");
  CHECK(refusal(kKernel, "//! kernel k\n") ==
        "device/problem.cuh:1:5: a second kernel; the first is on line 1 of k.cu");
  CHECK(refusal(kKernel, "//! use \"device/more.cuh\"\n") ==
        "device/problem.cuh:1:5: use stands in the template itself, not in a file that it uses");
  CHECK(refusal(kKernel, "#pragma once\n") ==
        "device/problem.cuh:1:1: there is nothing to use: declarations stand in lines that begin with //!");
  CHECK(refusal("//! use \"device/lost.cuh\"\n", "") == "k.cu:1:9: no header is named \"device/lost.cuh\"");
  CHECK(refusal("//! use \"device/problem.cuh\"\n//! use \"device/problem.cuh\"\n", std::string(kProblem)) ==
        "k.cu:2:9: device/problem.cuh is used already");
  for (const std::string_view outside : {"/tmp/problem.cuh", "../problem.cuh", "device/../problem.cuh"}) {
    CHECK(refusal(fmt::format("//! use \"{}\"\n", outside), "") ==
          fmt::format("k.cu:1:9: \"{}\" leads out of the template folders; a header is named from there, like "
                      "\"device/own.cuh\"",
                      outside));
  }
  CHECK(refusal("//! use problem\n", "") ==
        "k.cu:1:9: expected the name of a header, like \"device/reference/NAME.cuh\", found \"problem\"");
}

TEST_CASE("a file that is used is read anew when it has changed") {
  const TemporaryFolder folder;
  write(folder.path() / "kernels/k.cu", kKernel);
  TemplateSet set({folder.path()}, {});
  CHECK(used_by(set).find("k.cu:3:13: no header is named") != std::string::npos);
  write(folder.path() / "device/problem.cuh", problem_of("first"));
  CHECK(used_by(set) == "first");
  write(folder.path() / "device/problem.cuh", problem_of("second"));
  CHECK(used_by(set) == "second");
}

TEST_CASE("a folder's file takes the place of one that the library's templates use") {
  const std::string problem = problem_of("library");
  const EmbeddedFile files[] = {{"kernels/k.cu", kKernel.data(), kKernel.size()},
                                {"device/problem.cuh", problem.data(), problem.size()}};
  const TemporaryFolder folder;
  TemplateSet plain({}, files), shadowed({folder.path()}, files);
  CHECK(used_by(plain) == "library");
  CHECK(used_by(shadowed) == "library");
  write(folder.path() / "device/problem.cuh", problem_of("folder"));
  CHECK(used_by(shadowed) == "folder");
  REQUIRE(shadowed.add("device/problem.cuh", problem_of("added")));
  CHECK(used_by(shadowed) == "added");
  CHECK(used_by(plain) == "library");
}

TEST_CASE("an added file uses what lies beside it, an added text what was added before") {
  const TemporaryFolder folder;
  write(folder.path() / "kernels/k.cu", kKernel);
  write(folder.path() / "device/problem.cuh", problem_of("beside"));
  TemplateSet file({}, {}), text({}, {});
  REQUIRE(file.add_file(folder.path() / "kernels/k.cu"));
  CHECK(used_by(file) == "beside");
  CHECK(!text.add("k.cu", std::string(kKernel)));
  REQUIRE(text.add("device/problem.cuh", problem_of("before")));
  REQUIRE(text.add("k.cu", std::string(kKernel)));
  CHECK(used_by(text) == "before");
}

}  // namespace tma_jit::templates
