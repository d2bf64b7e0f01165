#include "base/embedded_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "cache/compression.h"
#include "template/embedded_templates.h"

namespace tma_jit {

TEST_CASE("the files of a pack are parts of one text, which the threads that read it share") {
  const std::string content(200'000, 'x');
  const std::string text = "first" + content + "last";
  // The pack is static, since its text lives as long as the process.
  static const std::vector<std::byte> frame = cache::compressed(std::as_bytes(std::span(text)));
  REQUIRE(!frame.empty());
  static const EmbeddedPack pack({reinterpret_cast<const unsigned char*>(frame.data()), frame.size()}, text.size());
  std::vector<std::string_view> read(8);
  std::vector<std::thread> threads;
  threads.reserve(read.size());
  for (std::string_view& one : read) threads.emplace_back([&] { one = pack.text(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string_view one : read) {
    CHECK(one == text);
    CHECK(one.data() == read[0].data());
  }
  const EmbeddedFile first{"first", nullptr, 5, &pack}, last{"last", nullptr, 4, &pack, 5 + content.size()};
  CHECK(first.text() == "first");
  CHECK(last.text() == "last");
  CHECK(EmbeddedFile{"alone", "text and more", 4}.text() == "text");
}

TEST_CASE("the embedded templates have the bytes of the tree's files, and the kernels that these declare") {
  const std::filesystem::path folder = std::filesystem::path(TMA_JIT_SOURCE_DIR) / "templates";
  std::size_t kernels = 0;
  for (const EmbeddedFile& file : templates::embedded_templates()) {
    CHECK_MESSAGE(file.text() == read_file(folder / file.name).value(), file.name);
    if (!templates::is_template(file)) continue;
    ++kernels;
    REQUIRE_MESSAGE(file.subject != nullptr, file.name);
    CHECK_MESSAGE(file.subject == templates::declared_kernel(file.text()), file.name);
  }
  CHECK(kernels > 100);
}

}  // namespace tma_jit
