// What a device's name says of its emulation, and where the emulator's library is looked for.
#include <tma_jit/emulator.h>
#include <tma_jit/engine.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <doctest/doctest.h>

#include "base/own_folders.h"
#include "driver/emulator.h"
#include "support/temporary_folder.h"

using namespace tma_jit;

TEST_CASE("A device's name chooses target, policy and seed; the environment what it leaves open") {
  const auto whole =
      parse_emulator("emulator:sm_100a:policy=lazy,seed=7,checks=0,instructions=90,processors=3", "policy=eager");
  REQUIRE(whole);
  CHECK(whole->arch == "sm_100a");
  CHECK(whole->policy == EmulatorPolicy::lazy);
  CHECK(whole->seed == 7);
  CHECK_FALSE(whole->checks);
  CHECK(whole->instructions == 90);
  CHECK(whole->processors == 3);
  const auto bare = parse_emulator("emulator", "policy=starved,seed=12,/opt/emulator.so");
  REQUIRE(bare);
  CHECK(bare->arch.empty());
  CHECK(bare->policy == EmulatorPolicy::starved);
  CHECK(bare->seed == 12);
  CHECK(bare->checks);
  CHECK(bare->instructions == kEmulatorInstructions);
  CHECK(bare->processors == 0);
  CHECK(bare->library == "/opt/emulator.so");
  const auto traced = parse_emulator("emulator:seed=3:sm_90a:trace=/tmp/a,b:c=d.json");
  REQUIRE(traced);
  CHECK(traced->arch == "sm_90a");
  CHECK(traced->trace == "/tmp/a,b:c=d.json");
}

TEST_CASE("Names that cannot be read are refused with what is known") {
  for (const char* name : {"emulator:seed=", "emulator:seed=-1", "emulator:policy=fast", "emulator:sm_90a:sm_100a",
                           "emulator:colour=red", "emulator:checks=yes", "emulator:checks=2", "emulator:processors=0",
                           "emulator:processors=65537", "emulator:instructions=many", "emulators", "0"}) {
    CAPTURE(name);
    const auto settings = parse_emulator(name);
    REQUIRE_FALSE(settings);
    CHECK(settings.error().code == ErrorCode::invalid_argument);
  }
  CHECK(parse_emulator("emulator", "seed=7x").error().message == "emulator: seed=7x: expected a number");
  CHECK(parse_emulator("emulator", "sm_90a").error().message.find("\"sm_90a\" is not a setting") != std::string::npos);
  CHECK_FALSE(is_emulator("emulators"));
  CHECK(is_emulator("emulator:x"));
}

TEST_CASE("Settings written as a device's name are read as the same settings, under every policy") {
  for (const char* policy : {"eager", "lazy", "random", "split", "starved"}) {
    EmulatorSettings settings{
        .arch = "sm_121a", .seed = 9, .checks = false, .references = true, .instructions = 0, .processors = 2};
    settings.policy = parse_emulator(std::string("emulator:policy=") + policy)->policy;
    CHECK(name_of(settings.policy) == policy);
    settings.library = "lib/e.so";
    settings.trace = "a,b:c.json";
    const auto read = parse_emulator(device_text(settings));
    REQUIRE(read);
    CHECK(read->arch == settings.arch);
    CHECK(read->instructions == settings.instructions);
    CHECK(read->policy == settings.policy);
    CHECK(read->seed == settings.seed);
    CHECK(read->checks == settings.checks);
    CHECK(read->references == settings.references);
    CHECK(read->processors == settings.processors);
    CHECK(read->library == settings.library);
    CHECK(read->trace == settings.trace);
  }
  EmulatorSettings beside;
  beside.library = "e.so";
  CHECK(parse_emulator(device_text(beside))->library == "./e.so");
}

TEST_CASE("The emulator stands for the devices known by name, with as many processors as it is told") {
  CHECK(driver::emulated_device({.arch = "sm_90a"})->name == "h100");
  CHECK(driver::emulated_device({.arch = "sm_90a", .processors = 5})->sm_count == 5);
  const auto none = driver::emulated_device({.arch = "sm_42a"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::not_found);
  CHECK(none.error().message.find("the emulator has no device for sm_42a; it has ") == 0);
}

TEST_CASE("The emulator's library is looked for beside this code and in ../lib, or where one is named") {
  const auto files = driver::emulator_libraries({});
  for (const auto& folder : own_folders()) {
    for (const char* place : {"libtma_jit_emulator.so", "../lib/libtma_jit_emulator.so"})
      CHECK(std::ranges::count(files, (folder / place).lexically_normal()) == 1);
  }
  CHECK(std::ranges::count(files, "libtma_jit_emulator.so") == 1);
  CHECK(driver::emulator_libraries("/opt/e.so") == std::vector<std::filesystem::path>{"/opt/e.so"});
}

// Not a test by itself: what the next one starts as a program that has a library beside it.
TEST_CASE("child: opens the emulator beside it" * doctest::skip()) {
  Options options;
  options.use_cache = false;
  options.log_level = LogLevel::off;
  options.device = Device::emulated({.arch = "sm_90a"});
  const auto opened = Engine(options).device();
  if (opened) ::_exit(3);
  const bool passed_over = opened.error().detail.find("can be changed by others") != std::string::npos;
  ::_exit(passed_over ? 0 : opened.error().message.find("is not the emulator") != std::string::npos ? 1 : 2);
}

TEST_CASE("A library that is found by search is opened only where others could not have put it") {
  const TemporaryFolder folder;
  const auto program = folder.path() / "program";
  REQUIRE(std::filesystem::copy_file("/proc/self/exe", program));
  REQUIRE(std::filesystem::copy_file(TMA_JIT_OTHER_LIBRARY, folder.path() / "libtma_jit_emulator.so"));
  REQUIRE(::chmod((folder.path() / "libtma_jit_emulator.so").c_str(), 0755) == 0);
  for (const auto& [mode, wanted] : {std::pair{0777, 0}, {0700, 1}}) {
    REQUIRE(::chmod(folder.path().c_str(), static_cast<mode_t>(mode)) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open("/dev/null", O_RDWR), STDOUT_FILENO);
      ::execl(program.c_str(), "program", "--no-skip", "-tc=child: opens the emulator*", nullptr);
      ::_exit(99);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == wanted);
  }
}

TEST_CASE("A library that is not there, and one that is not the emulator, are errors that say what to do") {
  Options options;
  options.use_cache = false;
  options.log_level = LogLevel::off;
  options.device = Device::emulated({.arch = "sm_90a", .library = "/tmp/no-such-folder/libtma_jit_emulator.so"});
  const auto missing = Engine(options).device();
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::driver);
  CHECK(missing.error().message.find("install it (component \"emulator\"") != std::string::npos);
  CHECK(missing.error().message.find("TMA_JIT_EMULATOR") != std::string::npos);
  CHECK(missing.error().detail.find("/tmp/no-such-folder/libtma_jit_emulator.so: cannot open") == 0);
  options.device = Device::emulated({.arch = "sm_90a", .library = TMA_JIT_OTHER_LIBRARY});
  const auto foreign = Engine(options).device();
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().code == ErrorCode::driver);
  CHECK(foreign.error().message.find("is not the emulator: it does not export tma_jit_emulator_interface") !=
        std::string::npos);
}
