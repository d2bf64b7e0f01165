#include "tuning/problem_key.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "source/meaning.h"

namespace tma_jit::tuning {
namespace {

constexpr std::size_t kDigestBytes = 8;

std::string text_of(const Digest& digest) {
  return to_hex(std::span(digest).first(kDigestBytes));
}

// Returns the name of a device's model that its driver's name and that of its facts (src/device/facts) have in common:
// "h200" of "NVIDIA H200" and of "h200", "h100" of "NVIDIA H100 80GB HBM3", whose variants differ in the number of SMs.
std::string model_of(std::string_view name) {
  std::string model;
  for (const char c : name) model += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  constexpr std::string_view kVendor = "nvidia ", kMemory = "gb hbm";
  if (model.starts_with(kVendor)) model.erase(0, kVendor.size());
  if (const std::size_t memory = model.find(kMemory); memory != model.npos) model.resize(model.rfind(' ', memory));
  return model;
}

}  // namespace

// Covers all hooks, because a plan does not tell which texts are the template's defaults.
std::string digest_of(const std::vector<Hook>& hooks) {
  std::string texts;
  for (const Hook& hook : hooks) texts.append(hook.name).append("=").append(hook.text).append(";");
  if (texts.empty()) return {};
  // Most requests of a program have the hooks of the one before, such as the defaults.
  thread_local std::pair<std::string, std::string> last;
  if (last.first != texts) last = {texts, short_digest(texts)};
  return last.second;
}

std::string short_digest(std::string_view text) {
  return text_of(sha256(text.data(), text.size()));
}

std::string digest_of(const TemplateTexts& texts) {
  Sha256 hash;
  const auto add = [&](const Digest& meaning) { hash.update(meaning.data(), meaning.size()); };
  add(source::meaning_of_file(texts.file, texts.body));
  add(source::meaning_of_file(fmt::format("{}, uses", texts.file), texts.used));
  for (const Header& header : texts.headers) {
    add(sha256(header.name.data(), header.name.size()));
    add(source::meaning_of_file(header.name, header.text));
  }
  return text_of(hash.finish());
}

std::string digest_of(const Plan& plan, const Source& source) {
  return digest_of({plan.file, plan.body, plan.used, source.headers});
}

bool same_model(std::string_view a, std::string_view b) {
  return a == b || model_of(a) == model_of(b);
}

bool same_device(const TuningRecord& a, const TuningRecord& b) {
  return a.sm_count == b.sm_count && same_model(a.device, b.device);
}

bool same_family(const TuningRecord& a, const TuningRecord& b) {
  return a.kernel == b.kernel && a.types == b.types && a.hooks == b.hooks && a.pins == b.pins &&
         a.conditions == b.conditions && same_device(a, b);
}

bool same_problem(const TuningRecord& a, const TuningRecord& b) {
  return a.dims == b.dims && same_family(a, b);
}

std::string problem_key(const TuningRecord& record) {
  std::string key =
      fmt::format("{}\n{}\n{}\n{}", record.kernel, model_of(record.device), record.sm_count, record.hooks);
  for (const auto& [name, type] : record.types) key += fmt::format("\n{}={}", name, name_of(type));
  for (const auto& [name, value] : record.dims) key += fmt::format("\n{}={}", name, value);
  for (const auto& [name, value] : record.pins) key += fmt::format("\npinned {}={}", name, value);
  if (!record.conditions.empty()) key += "\n" + record.conditions;
  return key;
}

TuningRecord problem_of(const Plan& plan, const DeviceInfo& device, std::string conditions) {
  TuningRecord record;
  record.kernel = plan.kernel;
  record.types = types_of(plan);
  for (const DimValue& dim : plan.dims) record.dims[dim.name] = dim.value;
  record.hooks = digest_of(plan.hooks);
  record.pins = plan.pins;
  record.conditions = std::move(conditions);
  record.device = device.name;
  record.sm_count = device.sm_count;
  return record;
}

}  // namespace tma_jit::tuning
