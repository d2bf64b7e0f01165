#include "compile/slots.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace tma_jit::compile {
namespace {

Slots::Settings settings(const std::filesystem::path& file, int count) {
  return {file, count, std::chrono::milliseconds(30)};
}

}  // namespace

TEST_CASE("there are so many slots and no more, and a released one is the next one's") {
  TemporaryFolder folder;
  const auto file = folder.path() / "slots";
  Slots one(settings(file, 2)), two(settings(file, 2)), three(settings(file, 2));
  CHECK(one.take());
  CHECK(two.take());
  CHECK(!three.take());  // in vain, and only for as long as it is patient
  two.release();
  CHECK(three.take());
  std::optional<Slots> four(settings(file, 2));
  three.release();
  CHECK(four->take());
  four.reset();  // as when its process ends
  CHECK(three.take());
}

TEST_CASE("one that wants them all waits for all the others, and they for it") {
  TemporaryFolder folder;
  const auto file = folder.path() / "slots";
  Slots one(settings(file, 3)), all(settings(file, 3));
  CHECK(one.take());
  CHECK(!all.take(true));
  all.release();
  one.release();
  CHECK(all.take(true));
  CHECK(!one.take());
  all.release();
  CHECK(one.take());
}

TEST_CASE("a file that cannot be used is passed over: nobody waits, nobody is refused") {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "real") << "x";
  std::filesystem::create_symlink(folder.path() / "real", folder.path() / "link");
  CHECK(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"link", "pipe", "none/slots", "."}) {
    CAPTURE(name);
    Slots slots(settings(folder.path() / name, 1));
    CHECK(!slots.take());
    slots.release();
  }
}

TEST_CASE("there is at least one slot, and not more than processors") {
  CHECK(default_slots() >= 1);
  CHECK(default_slots() <= ::sysconf(_SC_NPROCESSORS_CONF));
  CHECK(Slots(Slots::Settings{}).count() == default_slots());
}

}  // namespace tma_jit::compile
