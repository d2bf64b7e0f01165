// Draws the pictures of docs/tensor-maps.md.
//
//   swizzle-pictures FOLDER           writes each as FOLDER/NAME.svg
//   swizzle-pictures --check FOLDER   lists the files there that differ from what would be written; exit code 1 if any
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "boxes.h"
#include "swizzles.h"

namespace {

using tma_jit::pictures::Picture;
namespace fs = std::filesystem;

std::vector<Picture> all() {
  std::vector<Picture> pictures = tma_jit::pictures::swizzles();
  for (Picture& picture : tma_jit::pictures::boxes()) pictures.push_back(std::move(picture));
  return pictures;
}

fs::path file_of(const fs::path& folder, const Picture& picture) {
  return folder / (picture.name + ".svg");
}

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

int write(const fs::path& folder) {
  fs::create_directories(folder);
  for (const Picture& picture : all()) {
    std::ofstream file(file_of(folder, picture), std::ios::binary);
    file << picture.svg;
    if (file.flush()) continue;
    std::fprintf(stderr, "cannot write %s\n", file_of(folder, picture).c_str());
    return 1;
  }
  return 0;
}

int check(const fs::path& folder) {
  int faults = 0;
  std::set<fs::path> known;
  for (const Picture& picture : all()) {
    const fs::path file = file_of(folder, picture);
    known.insert(file.filename());
    if (contents(file) == picture.svg) continue;
    std::printf("%s is not what the code draws; run swizzle-pictures %s\n", file.c_str(), folder.c_str());
    ++faults;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".png") continue;  // of tma-jit report: tools/dev pictures
    if (known.contains(entry.path().filename())) continue;
    std::printf("%s is drawn by nothing\n", entry.path().c_str());
    ++faults;
  }
  return faults > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 3 && first == "--check") return check(argv[2]);
  if (argc == 2 && !first.starts_with("-")) return write(argv[1]);
  std::fputs("swizzle-pictures [--check] FOLDER\n", stderr);
  return 2;
}
