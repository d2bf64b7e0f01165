// Selects the files of a kernel that serve a device, and orders them.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "plan/fault.h"
#include "plan/planner.h"

namespace tma_jit::plan {
namespace {

struct Target {
  int number = 0;
  char suffix = 0;  // 'a', 'f' or 0
};

Target target_of(std::string_view arch) {
  Target target;
  if (!arch.empty() && (arch.back() == 'a' || arch.back() == 'f')) {
    target.suffix = arch.back();
    arch.remove_suffix(1);
  }
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), target.number);
  return target;
}

tl::unexpected<Error> none_serves(std::span<const templates::Template* const> found, std::string_view target) {
  std::vector<std::string> served;
  for (const templates::Template* kernel : found) {
    served.push_back(fmt::format("{} serves {}", kernel->file(), joined(kernel->archs)));
  }
  auto refused =
      fault(*found.front(), ErrorCode::unsupported, "no template serves {}; {}", target, joined(served, "; "));
  refused.value().reason = ErrorReason::no_template;
  return refused;
}

}  // namespace

bool serves(std::string_view listed, std::string_view target) {
  if (listed == target) return true;
  const Target wanted = target_of(target);
  const Target offered = target_of(listed);
  if (offered.suffix == 0) return offered.number == wanted.number;
  const bool same_family = offered.number / 10 == wanted.number / 10 && wanted.number >= offered.number;
  return offered.suffix == 'f' && wanted.suffix != 0 && same_family;
}

bool serves(const templates::Template& kernel, std::string_view target) {
  return std::ranges::any_of(kernel.archs, [&](const std::string& listed) { return serves(listed, target); });
}

Result<std::vector<const templates::Template*>> candidates(std::string_view stem, const DeviceInfo& device,
                                                           TemplatePointers templates) {
  if (templates.empty()) return failure(ErrorCode::not_found, "there is no template to plan with");
  std::vector<const templates::Template*> found;
  for (const auto& kernel : templates) {
    if (stem.empty() || kernel->stem() == stem) found.push_back(kernel.get());
  }
  if (found.empty()) {
    std::vector<std::string> stems;
    for (const auto& kernel : templates) stems.push_back(kernel->stem());
    return unknown_name(
        fault(*templates.front(), ErrorCode::not_found, "no file \"{}\"; it has {}", stem, joined(stems)), stem, stems);
  }
  std::vector<const templates::Template*> serving;
  std::ranges::copy_if(found, std::back_inserter(serving),
                       [&](const templates::Template* kernel) { return serves(*kernel, device.arch); });
  if (serving.empty()) return none_serves(found, device.arch);
  std::ranges::stable_sort(serving, [](const templates::Template* a, const templates::Template* b) {
    if (a->preference != b->preference) return a->preference > b->preference;
    return a->stem() < b->stem();
  });
  return serving;
}

}  // namespace tma_jit::plan
