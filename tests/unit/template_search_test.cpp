#include "template/catalogue.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/temporary_folder.h"

namespace tma_jit::templates {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  fs::path write(const fs::path& name, std::string_view text) const {
    const fs::path file = path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

std::string kernel_text(std::string_view kernel, std::string_view doc) {
  return fmt::format("// a comment\n//! kernel {} \"{}\"\n//! arch sm_90a\n//! launch grid 1 block 32\n", kernel, doc);
}

// Texts that stand for the library's own.
struct Embedded {
  std::string gemm = kernel_text("gemm", "embedded");
  std::string portable = kernel_text("gemm", "portable");
  std::string copy = kernel_text("copy", "embedded");
  std::string broken = "//! kernel broken\n//! arch sm_90a\n//! lunch\n";
  std::string broken_gemm = "//! kernel gemm\n//! arch sm_90a\n//! lunch\n";
  std::string header = "// embedded tma\n";
  std::vector<EmbeddedFile> files = {{"device/tma.cuh", header.data(), header.size()},
                                     {"kernels/broken.cu", broken.data(), broken.size()},
                                     {"kernels/copy.cu", copy.data(), copy.size()},
                                     {"kernels/gemm.cu", gemm.data(), gemm.size()},
                                     {"kernels/gemm_portable.cu", portable.data(), portable.size()}};
};

// "file: doc" of every template found, or the error's text.
std::string found(TemplateSet& set, std::string_view kernel) {
  const auto result = set.find(kernel);
  if (!result) return result.error().text();
  std::string list;
  for (const TemplatePointer& one : *result) list += fmt::format("{}: {}\n", one->file(), one->doc);
  return list;
}

}  // namespace

TEST_CASE("the kernel of a text is found without parsing it") {
  CHECK(declared_kernel("//! kernel gemm \"x\"") == "gemm");
  CHECK(declared_kernel("int x;\n  //!\tkernel\tgemm\n//! nonsense") == "gemm");
  CHECK(declared_kernel("//! kernel\n") == "");
  CHECK(declared_kernel("//! kernels gemm\n// ! kernel x\n") == "");
  CHECK(declared_kernel("") == "");
  CHECK(declared_kernel("\n") == "");
}

TEST_CASE("the architectures of a text are found without parsing it") {
  using Archs = std::vector<std::string>;
  CHECK(declared_archs("//! kernel gemm\n //! arch sm_90a, sm_100f sm_80 \"x\"\n//! nonsense") ==
        Archs{"sm_90a", "sm_100f", "sm_80"});
  CHECK(declared_archs("//! archs sm_90a\n//! arch\n") == Archs());
  CHECK(declared_archs("") == Archs());
}

// A search leaves files out by it.
TEST_CASE("every template in the library has its architectures in one line of its own") {
  for (const EmbeddedFile& file : embedded_templates()) {
    if (!is_template(file)) continue;
    CAPTURE(file.name);
    const auto parsed = parse(file.name, std::string(file.text()),
                              [](std::string_view name) { return header_in(embedded_templates(), name); });
    CHECK(declared_archs(file.text()) == parsed.value().archs);
  }
}

TEST_CASE("embedded templates whose architectures are of no use are not parsed, unless all are") {
  Embedded embedded;
  embedded.files.push_back({"kernels/gemm_broken.cu", embedded.broken_gemm.data(), embedded.broken_gemm.size()});
  embedded.portable.replace(embedded.portable.find("sm_90a"), 6, "sm_80\n");
  TemplateSet set({}, embedded.files);
  const auto with = [&](std::string_view arch) {
    return set.find("gemm", [=](std::string_view listed) { return listed == arch; });
  };
  REQUIRE(with("sm_80"));
  CHECK(with("sm_80")->size() == 1);
  CHECK(with("sm_80")->front()->doc == "portable");
  CHECK_FALSE(with("sm_90a"));
  CHECK_FALSE(with("sm_100a"));
  CHECK_FALSE(set.find("gemm"));
}

TEST_CASE("embedded templates are found by kernel; only those asked for are parsed") {
  const Embedded embedded;
  TemplateSet set({}, embedded.files);
  CHECK(found(set, "gemm") == "templates/kernels/gemm.cu: embedded\ntemplates/kernels/gemm_portable.cu: portable\n");
  CHECK(set.find("gemm")->front()->embedded);
  CHECK(set.find("gemm")->front() == set.find("gemm")->front());  // parsed once
  CHECK(found(set, "broken") ==
        "parse: templates/kernels/broken.cu:3:5: unknown directive lunch; did you mean \"launch\"?\n  //! lunch\n      "
        "^~~~~");
}

TEST_CASE("an unknown kernel is answered with the nearest name and all of them") {
  const Embedded embedded;
  TemplateSet set({}, embedded.files);
  CHECK(found(set, "gem") ==
        "not_found: no kernel is named \"gem\"; did you mean \"gemm\"?\n  known kernels: broken, copy, gemm");
  CHECK(found(set, "attention") == "not_found: no kernel is named \"attention\"\n  known kernels: broken, copy, gemm");
  CHECK(found(set, "") == "not_found: no kernel is named \"\"\n  known kernels: broken, copy, gemm");
  TemplateSet empty({}, {});
  CHECK(found(empty, "gemm") == "not_found: no kernel is named \"gemm\"\n  no template was found");
}

TEST_CASE("a folder's file shadows the embedded one of the same stem and kernel") {
  const Embedded embedded;
  const Folder folder;
  folder.write("kernels/gemm.cu", kernel_text("gemm", "mine"));
  folder.write("copy.cu", kernel_text("other", "another kernel under a known stem"));
  folder.write("extra.cu", kernel_text("gemm", "extra"));
  folder.write("notes.txt", kernel_text("gemm", "not a template"));
  fs::create_directories(folder.path() / "folder.cu");
  TemplateSet set({folder.path()}, embedded.files);
  const std::string at = folder.path().string();
  CHECK(found(set, "gemm") == fmt::format("{0}/extra.cu: extra\n{0}/kernels/gemm.cu: mine\n"
                                          "templates/kernels/gemm_portable.cu: portable\n",
                                          at));
  CHECK_FALSE(set.find("gemm")->front()->embedded);
  CHECK(found(set, "copy") == "templates/kernels/copy.cu: embedded\n");
  CHECK(found(set, "other") == fmt::format("{}/copy.cu: another kernel under a known stem\n", at));
}

TEST_CASE("the first folder wins, an added template wins over all, the last added over earlier ones") {
  const Embedded embedded;
  const Folder first, second;
  first.write("copy.cu", kernel_text("copy", "first"));
  second.write("copy.cu", kernel_text("copy", "second"));
  TemplateSet set({first.path(), second.path()}, embedded.files);
  CHECK(found(set, "copy") == fmt::format("{}/copy.cu: first\n", first.path().string()));
  REQUIRE(set.add("copy", kernel_text("copy", "added")));
  CHECK(found(set, "copy") == "copy: added\n");
  REQUIRE(set.add("copy.cu", kernel_text("copy", "added again")));
  CHECK(found(set, "copy") == "copy.cu: added again\n");
  REQUIRE(set.add_file(second.path() / "copy.cu"));
  CHECK(found(set, "copy") == fmt::format("{}/copy.cu: second\n", second.path().string()));
}

TEST_CASE("a changed file is read anew") {
  const Folder folder;
  folder.write("k.cu", kernel_text("k", "one"));
  TemplateSet set({folder.path()}, {});
  const std::string file = (folder.path() / "k.cu").string();
  CHECK(found(set, "k") == file + ": one\n");
  folder.write("k.cu", kernel_text("k", "two"));
  CHECK(found(set, "k") == file + ": two\n");
  fs::remove(file);
  CHECK(found(set, "k") == "not_found: no kernel is named \"k\"\n  no template was found");
}

TEST_CASE("what is added is parsed at once") {
  TemplateSet set({}, {});
  const auto bad = set.add("mine", "//! kernel k\n//! arch sm_90a\n//! launch grid 1\n");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "mine:3:18: expected an operator, \",\" or \"block\", found the end of the line");
  CHECK(bad.error().detail == "//! launch grid 1\n                 ^");
  CHECK(set.add("", kernel_text("k", "")).error().message == "a template needs a name");
  CHECK(set.all().empty());
}

TEST_CASE("files and folders that cannot be read") {
  const Folder folder;
  TemplateSet missing({folder.path() / "nowhere"}, {});
  CHECK(found(missing, "k") == fmt::format("io: cannot read the template folder {}/nowhere: No such file or directory",
                                           folder.path().string()));
  REQUIRE(missing.all().size() == 1);
  CHECK(missing.all().front().error().code == ErrorCode::io);

  TemplateSet set({folder.path()}, {});
  CHECK(set.add_file(folder.path() / "gone.cu").error().message ==
        fmt::format("cannot read {}/gone.cu: No such file or directory", folder.path().string()));
  CHECK(set.add_file(folder.path()).error().code == ErrorCode::io);
  fs::create_symlink("nowhere.cu", folder.path() / "dangling.cu");
  const std::string fault =
      fmt::format("io: cannot read {}/dangling.cu: No such file or directory", folder.path().string());
  CHECK(found(set, "k") == "not_found: no kernel is named \"k\"\n  no template was found\n  " + fault);
  REQUIRE(set.all().size() == 1);
  CHECK(set.all().front().error().text() == fault);
  folder.write("copy.cu", kernel_text("copy", "mine"));
  CHECK(found(set, "copy").find("copy.cu: mine") != std::string::npos);
  fs::rename(folder.path() / "dangling.cu", folder.path() / "gone.cu");
  const Embedded embedded;
  TemplateSet shadowing({folder.path()}, embedded.files);
  CHECK(found(shadowing, "gemm").find("embedded") != std::string::npos);
  fs::rename(folder.path() / "gone.cu", folder.path() / "gemm.cu");  // it may be the one that is wanted
  CHECK(found(shadowing, "gemm").find("io: cannot read") == 0);
}

TEST_CASE("everything that is not shadowed is listed, errors in their place") {
  const Embedded embedded;
  const Folder folder;
  folder.write("copy.cu", kernel_text("copy", "mine"));
  folder.write("nothing.cu", "int x;\n");
  TemplateSet set({folder.path()}, embedded.files);
  std::string list;
  for (const auto& one : set.all()) list += one ? (*one)->kernel + " " + (*one)->doc + "\n" : one.error().line() + "\n";
  CHECK(list ==
        fmt::format("{}/nothing.cu:1:1: there is no manifest: a template declares its kernel in lines that begin "
                    "with //!\n"
                    "templates/kernels/broken.cu:3:5: unknown directive lunch; did you mean \"launch\"?\n"
                    "copy mine\ngemm embedded\ngemm portable\n",
                    folder.path().string()));
}

TEST_CASE("device headers come from folders first, then from the library") {
  const Embedded embedded;
  const Folder folder, added;
  TemplateSet set({folder.path()}, embedded.files);
  CHECK(set.header("device/tma.cuh") == "// embedded tma\n");
  folder.write("device/tma.cuh", "// mine\n");
  folder.write("device/own.cuh", "// own\n");
  CHECK(set.header("device/tma.cuh") == "// mine\n");
  CHECK(set.header("device/own.cuh") == "// own\n");
  CHECK_FALSE(set.header("kernels/gemm.cu"));

  added.write("device/late.cuh", "// late\n");
  added.write("device/own.cuh", "// not this one\n");
  CHECK_FALSE(set.header("device/late.cuh"));
  REQUIRE(set.add_file(added.write("kernels/k.cu", kernel_text("k", ""))));
  CHECK(set.header("device/late.cuh") == "// late\n");
  CHECK(set.header("device/own.cuh") == "// own\n");
}

TEST_CASE("a header may be added as text and then comes first") {
  const Embedded embedded;
  const Folder folder;
  folder.write("device/tma.cuh", "// mine\n");
  TemplateSet set({folder.path()}, embedded.files);
  REQUIRE(set.add("device/tma.cuh", "// added\n"));
  CHECK(set.header("device/tma.cuh") == "// added\n");
  REQUIRE(set.add("device/tma.cuh", "// added again\n"));
  CHECK(set.header("device/tma.cuh") == "// added again\n");
  CHECK_FALSE(set.add("device/tma.cu", "// a template without a manifest\n"));
}

TEST_CASE("a header that is nowhere says where it was looked for") {
  const Embedded embedded;
  const Folder folder;
  const TemplateSet set({folder.path()}, embedded.files);
  const auto result = set.header("device/tna.cuh");
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::not_found);
  CHECK(result.error().line() == "no header is named \"device/tna.cuh\"; did you mean \"device/tma.cuh\"?");
  CHECK(result.error().detail ==
        fmt::format("tried {}/device/tna.cuh\ntried the embedded headers: device/tma.cuh", folder.path().string()));
  CHECK_FALSE(set.header("../secret"));
  CHECK_FALSE(set.header("/etc/passwd"));
}

TEST_CASE("one set serves many threads") {
  const Embedded embedded;
  TemplateSet set({}, embedded.files);
  std::vector<std::thread> threads;
  std::atomic<int> hits{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        if (!set.add(fmt::format("mine{}", i), kernel_text("gemm", "added"))) return;
        if (set.find("gemm") && set.header("device/tma.cuh")) ++hits;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(hits == 400);
  CHECK(set.find("gemm")->size() == 10);
}

TEST_CASE("every template in the library parses") {
  TemplateSet set;
  for (const auto& one : set.all()) {
    if (!one) FAIL_CHECK(one.error().text());
    if (one) CHECK(((*one)->file().starts_with("templates/kernels/") || is_probe((*one)->file())));
  }
}

// What a start with records costs rests on it: a record names its file.
TEST_CASE("one file of a kernel is found by its stem without parsing the others") {
  Embedded embedded;
  embedded.files.push_back({"kernels/gemm_broken.cu", embedded.broken_gemm.data(), embedded.broken_gemm.size()});
  TemplateSet set({}, embedded.files);
  const auto one = set.find_pinned("gemm", "gemm_portable");
  REQUIRE(one);
  CHECK((*one)->doc == "portable");
  CHECK(*set.find_pinned("gemm", "gemm_portable") == *one);
  CHECK(*set.find_pinned("gemm", "copy") == nullptr);
  CHECK(*set.find_pinned("none", "gemm") == nullptr);
  CHECK_FALSE(set.find_pinned("gemm", "gemm_broken"));
  CHECK_FALSE(set.find("gemm"));
  const Folder folder;
  folder.write("gemm_portable.cu", kernel_text("gemm", "of a folder"));
  const Embedded library;
  TemplateSet shadowed({folder.path()}, library.files);
  CHECK((*shadowed.find_pinned("gemm", "gemm_portable"))->doc == "of a folder");
}

// Two sets of their own over the library's files, so that neither knows what the other parsed.
TEST_CASE("a file that was parsed without its presets has them, as if parsed whole, once a search asks for it") {
  const std::vector<EmbeddedFile> files(embedded_templates().begin(), embedded_templates().end()), same = files;
  TemplateSet pinned({}, files), whole({}, same);
  std::size_t without = 0;
  for (const std::string kernel : {"gemm", "softmax", "attention", "concat"}) {
    const std::vector<TemplatePointer> expected = whole.find(kernel).value();
    for (const TemplatePointer& one : expected) {
      CAPTURE(one->file());
      const TemplatePointer bare = pinned.find_pinned(kernel, one->stem()).value();
      CHECK(bare->embedded);
      CHECK(bare->params.size() == one->params.size());
      without += bare->presets.empty() && !one->presets.empty() ? 1 : 0;
      CHECK(pinned.find_pinned(kernel, one->stem()).value() == bare);
    }
    const std::vector<TemplatePointer> found = pinned.find(kernel).value();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(found[i]->file());
      CHECK(found[i]->references.size() == expected[i]->references.size());
      REQUIRE(found[i]->presets.size() == expected[i]->presets.size());
      for (std::size_t j = 0; j < found[i]->presets.size(); ++j) {
        const Preset &one = found[i]->presets[j], &other = expected[i]->presets[j];
        CHECK(one.text == other.text);
        CHECK(one.at.line == other.at.line);
        CHECK(one.at.file == other.at.file);
        REQUIRE(one.when.has_value() == other.when.has_value());
        if (!one.when) continue;
        for (const Reference& reference : one.when->references())
          CHECK(found[i]->references[static_cast<std::size_t>(reference.id)].name == reference.name);
      }
    }
  }
  CHECK(without > 10);
}

TEST_CASE("a template in a folder named probes is a probe, wherever the folder is") {
  const Embedded embedded;
  const std::string unit = kernel_text("unit", "embedded");
  std::vector<EmbeddedFile> files = embedded.files;
  files.push_back({"probes/unit.cu", unit.data(), unit.size()});
  const Folder folder, added;
  folder.write("probes/mine.cu", kernel_text("mine", "folder"));
  TemplateSet set({folder.path()}, files);
  REQUIRE(set.add_file(added.write("probes/late.cu", kernel_text("late", "added"))));
  added.write("device/late.cuh", "// late\n");
  for (const char* name : {"unit", "mine", "late"}) {
    const auto found = set.find(name);
    REQUIRE_MESSAGE(found, (found ? "" : found.error().text()));
    CHECK(kernel_info(*found->front()).probe);
  }
  CHECK_FALSE(kernel_info(*set.find("gemm")->front()).probe);
  CHECK(set.header("device/late.cuh") == "// late\n");
  CHECK_FALSE(set.header("probes/unit.cu"));
  CHECK(set.find("unot").error().line() == "no kernel is named \"unot\"; did you mean \"unit\"?");
  CHECK(set.find("unot").error().detail == "known kernels: broken, copy, gemm");
}

}  // namespace tma_jit::templates
