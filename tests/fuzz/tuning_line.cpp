// A line of a file of tuning records; what is read survives the way to a line and back.
#include <tma_jit/tuning.h>

#include "target.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto record = parse_tuning_line(text);
  if (!record) {
    FUZZ_EXPECT(record.error().code == ErrorCode::parse);
    return;
  }
  FUZZ_EXPECT(record->us > 0 && !record->kernel.empty());
  const std::string line = tuning_line(*record);
  FUZZ_EXPECT(line.find('\n') == std::string::npos);
  FUZZ_EXPECT(*parse_tuning_line(" " + text) == *record);  // by the JSON parser, even if it was read in place
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = {
      R"({"kernel":"gemm","types":{"T":"bf16"},"dims":{"M":4096,"N":4096,"K":64},"hooks":"","device":"NVIDIA H200",)"
      R"("sm_count":132,"file":"gemm_wgmma","digest":"00ff","params":{"BM":128,"STAGES":4},"us":12.5,)"
      R"("preset_us":13,"driver":"13.0","compiler":"13.0.88"})",
      "{}", "",
      R"({"kernel":"gemm","types":{"O":"f32","T":"bf16"},"dims":{"K":64,"M":4096,"N":0},"hooks":"00","device":"h200",)"
      R"("sm_count":132,"file":"gemm_wgmma","digest":"00ff","params":{"BM":128,"STAGES":4},"us":12.5,)"
      R"("preset_us":13.0,"driver":"","compiler":""})"};
  const std::string deep(100'000, '[');
  for (const char* field : {"M", "BM", "us", "types"}) {
    std::string text = all.front();
    const std::size_t value = text.find(':', text.find(std::string("\"") + field + "\"")) + 1;
    all.push_back(text.insert(value, deep));
  }
  all.push_back(R"({"dims":{"M":)" + deep + std::string(deep.size(), ']') + "}}");
  return all;
}

}  // namespace tma_jit::fuzz
