// A line of a warm list; what is read is one that can be looked at whole.
#include <tma_jit/warm_list.h>

#include "target.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  const auto line = parse_warm_line({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  FUZZ_EXPECT(line ? !line->request.kernel.empty() : line.error().code == ErrorCode::parse);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = {
      R"({"kernel":"gemm","arch":"sm_90a","file":"gemm","dims":{"M":4096,"N":4096},"types":{"T":"bf16"},)"
      R"("params":{"BM":128,"STAGES":4},"fixed":["M"],"hooks":{"apply":"a * 2.0f"},)"
      R"("tensors":{"A":{"type":"bf16","shape":[64,64],"strides":[128,1]}},"reference":true})",
      R"({"kernel":"copy","presets":true})", "{}", ""};
  const std::string deep(100'000, '[');
  for (const char* field : {"M", "BM", "shape", "fixed"}) {
    std::string text = all.front();
    const std::size_t value = text.find(':', text.find(std::string("\"") + field + "\"")) + 1;
    all.push_back(text.insert(value, deep));
  }
  all.push_back(R"({"kernel":"a","dims":{"M":)" + deep + std::string(deep.size(), ']') + "}}");
  return all;
}

}  // namespace tma_jit::fuzz
