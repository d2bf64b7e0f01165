// The metadata of an entry, as the engine reads it back and as tools read it.
#include <string>

#include "cache/inventory.h"
#include "engine/builder.h"
#include "support/cache_samples.h"
#include "target.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  cache::Entry entry = cache::sample_entry(1, 16);
  entry.metadata.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  (void)tma_jit::engine::marks_in(entry.metadata);
  (void)cache::describe(cache::sample_key(1), entry.metadata.size(), entry);
  (void)tma_jit::engine::built_from(std::move(entry), cache::sample_key(1));
}

std::vector<std::string> seeds() {
  Artifact cubin;
  cubin.entry = "copy";
  cubin.arch = "sm_90a";
  cubin.resources.registers = 40;
  cubin.resources.warnings = {"ptxas: C7510 ..."};
  const Source source{.kernel = "copy",
                      .entry = "copy",
                      .arch = "sm_90a",
                      .name = "copy.cu",
                      .text = "int x;",
                      .headers = {{"device/tma.cuh", "int y;"}},
                      .options = {"-std=c++20"}};
  const std::string sound = tma_jit::engine::metadata_of(cubin, source, "nvrtc 13.0 abc");
  std::vector<std::string> all = {sound, "{}", ""};
  // Numbers that no integer holds.
  for (const char* number : {"8.88889e+45", "1.5", "-1", "18446744073709551616", "null"}) {
    std::string text = sound;
    all.push_back(text.replace(text.find(":40,") + 1, 2, number));
  }
  const std::string deep(100'000, '[');
  for (const std::string& number : {deep, deep + std::string(deep.size(), ']')}) {
    std::string text = sound;
    all.push_back(text.replace(text.find(":40,") + 1, 2, number));
  }
  return all;
}

}  // namespace tma_jit::fuzz
