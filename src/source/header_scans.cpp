#include "source/header_scans.h"

#include "base/by_text.h"

namespace tma_jit::source {
namespace {

ByText<std::shared_ptr<const Scan>> scans;

}  // namespace

std::shared_ptr<const Scan> scan_of_header(std::string_view name, std::string_view text) {
  return scans.get(name, text, [](std::string_view read) { return std::make_shared<const Scan>(scan(read)); });
}

}  // namespace tma_jit::source
