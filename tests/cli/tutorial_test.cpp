// The tutorial of docs/writing-templates.md, as it stands there: its kernels are compiled and agree with their
// references, and its commands and those of docs/elementwise.md print what the page says. TMA_JIT_UPDATE_GOLDEN=1
// writes into the page what they print.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>

#include "command.h"

namespace tma_jit::cli {
namespace {

const std::string kTutorial = TMA_JIT_SOURCE_DIR "/docs/writing-templates.md";
const std::string kElementwise = TMA_JIT_SOURCE_DIR "/docs/elementwise.md";

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A block of the page: where its text begins, and the text.
struct Block {
  std::size_t at;
  std::string text;
};

std::vector<Block> blocks_of(const std::string& page, const std::string& language) {
  std::vector<Block> blocks;
  const std::string fence = "```" + language + "\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    blocks.push_back({begin, page.substr(begin, page.find("\n```", at) + 1 - begin)});
  }
  return blocks;
}

// The listings, each in a file named after its kernel; returns the kernels.
std::vector<std::string> write_listings(const std::string& page, const std::filesystem::path& folder) {
  std::vector<std::string> kernels;
  std::filesystem::create_directories(folder);
  for (const Block& block : blocks_of(page, "cuda")) {
    std::istringstream words(block.text.substr(block.text.find("kernel") + 6));
    words >> kernels.emplace_back();
    std::ofstream(folder / (kernels.back() + ".cu")) << block.text;
  }
  return kernels;
}

// What a shell in `folder` prints, both streams together, without blanks at the ends of lines.
std::string printed(const std::string& command, const std::filesystem::path& folder) {
  const std::filesystem::path program = TMA_JIT_COMMAND;
  const std::string line = "cd '" + folder.string() + "' && export PATH='" + program.parent_path().string() +
                           "':\"$PATH\" TMA_JIT_CACHE_DIR='" + (folder / "cache").string() + "' && { " + command +
                           "\n} 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), pclose);
  std::string text;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return std::regex_replace(text, std::regex(" +\n"), "\n");
}

// A block with what its commands print now; a command may go on after a backslash at the end of a line, or with a text
// for it up to a line TEXT.
std::string run_again(const std::string& block, const std::filesystem::path& folder) {
  std::string text;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ ")) continue;
    std::string command = line.substr(2);
    for (; command.ends_with("\\") && std::getline(lines, line); command += "\n" + line) {
    }
    for (bool here = command.ends_with("<<'TEXT'"); here && std::getline(lines, line); here = line != "TEXT")
      command += "\n" + line;
    text += "$ " + command + "\n" + printed(command, folder);
  }
  return text;
}

// Without what depends on the machine, the compiler, or lines of headers.
std::string lasting(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex("compiled in [0-9]+ ms"), "compiled"),
                            std::regex(R"((PTX line |\.cuh:)[0-9]+)"), "$1N");
}

}  // namespace

TEST_CASE("the tutorial's kernels agree with their references, and the emulator finds nothing to report") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::filesystem::path folder = scratch_folder() / "tutorial";
  const std::vector<std::string> kernels = write_listings(text_of(kTutorial), folder);
  CHECK(kernels == std::vector<std::string>{"copy_elements", "scale", "quantise", "row_softmax", "head_attention"});
  for (const std::string& kernel : kernels) {
    for (const char* device : {"emulator:sm_90a:policy=random", "emulator:sm_100a:policy=lazy",
                               "emulator:sm_121a:policy=split,processors=3"}) {
      for (const char* rows : {"M=133", "M=1"}) {
        std::vector<std::string> words = {"run", kernel, "--templates", folder.string(), "--check", "--device", device};
        if (kernel != "copy_elements") words.emplace_back(rows);
        words.emplace_back("N=400");
        const CommandResult result = run_command(words);
        CHECK_MESSAGE(result.exit == 0, kernel << " on " << device << ": " << result.out << result.err);
      }
    }
  }
}

TEST_CASE("the commands of the pages print what they say") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const auto& [path, least] : {std::pair{kTutorial, 6U}, std::pair{kElementwise, 3U}}) {
    const std::filesystem::path folder = scratch_folder() / "commands_of_pages" / std::filesystem::path(path).stem();
    std::string page = text_of(path);
    write_listings(page, folder);
    const std::vector<Block> blocks = blocks_of(page, "console");
    CHECK(blocks.size() >= least);
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {  // from the last on, so that places stay
      const std::string now = run_again(block->text, folder);
      INFO("TMA_JIT_UPDATE_GOLDEN=1 writes it anew");
      if (std::getenv("TMA_JIT_UPDATE_GOLDEN") != nullptr)
        page.replace(block->at, block->text.size(), now);
      else
        CHECK(lasting(now) == lasting(block->text));
    }
    if (std::getenv("TMA_JIT_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << page;
  }
}

}  // namespace tma_jit::cli
