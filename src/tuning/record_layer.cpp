#include "tuning/record_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuning/problem_key.h"
#include "tuning/written_record.h"

namespace tma_jit::tuning {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

double distance(std::int64_t a, std::int64_t b) {
  if (a == b) return 0;
  if (a <= 0 || b <= 0) return kFar;
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

// Returns infinity if the dims have other names. `dims` are the members of an object.
double distance(const TuningRecord& problem, std::string_view dims) {
  double sum = 0;
  for (const auto& [name, value] : problem.dims) {
    const auto dim = take_integer(dims);
    if (!dim || dim->name != name) return kFar;
    sum += distance(value, dim->value);
  }
  if (!dims.empty()) return kFar;
  return sum;
}

// Returns what stands between the two; "" if they do not occur.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + begin.size());
  return text.substr(0, std::min(text.find(end), text.size()));
}

}  // namespace

void RecordLayer::add(const Entry& entry, std::string_view kernel, std::string_view file) {
  entries_.push_back(entry);
  const auto known = std::ranges::find_if(
      choices_, [&](const Choice& choice) { return choice.file == file && choice.kernel == kernel; });
  ++(known != choices_.end() ? *known : choices_.emplace_back(Choice{kernel, file})).records;
}

void RecordLayer::add(std::string_view line) {
  const std::string_view problem = line.substr(0, line.find(",\"device\":\""));
  add({problem, line}, between(line, "{\"kernel\":\"", "\""),
      between(line.substr(problem.size()), ",\"file\":\"", "\""));
}

void RecordLayer::add(std::string_view line, const WrittenRecord& written) {
  const WrittenRecord& kept = written_.emplace_back(written);
  add({kept.problem, line, &kept}, kept.kernel, kept.file);
}

void RecordLayer::add(TuningRecord record) {
  const TuningRecord& kept = records_.emplace_back(std::move(record));
  add({problems_.emplace_back(problem_text(kept)), {}, nullptr, &kept}, kept.kernel, kept.file);
}

void RecordLayer::sort() {
  if (!std::ranges::is_sorted(entries_, {}, &Entry::problem)) std::ranges::stable_sort(entries_, {}, &Entry::problem);
}

std::optional<TuningRecord> RecordLayer::record_of(const Entry& entry) {
  if (entry.record != nullptr) return *entry.record;
  if (entry.written != nullptr) return tuning::record_of(*entry.written);
  const auto written = read_written(entry.line);
  return written ? std::optional(tuning::record_of(*written)) : std::nullopt;
}

std::optional<RecordLayer::Found> RecordLayer::of(const TuningRecord& problem, const Current& is_current) const {
  std::optional<Found> fastest;
  for (const Entry& entry : std::ranges::equal_range(entries_, problem_text(problem), {}, &Entry::problem)) {
    auto record = record_of(entry);
    if (!record || !same_device(*record, problem)) continue;  // all the rest is the same, as the text is
    if (fastest && record->us >= fastest->record.us) continue;
    if (is_current(*record)) fastest = Found{*std::move(record), entry.line};
  }
  return fastest;
}

std::optional<TuningRecord> RecordLayer::nearest(const TuningRecord& problem, const Current& is_current,
                                                 double& far) const {
  const std::string alike = types_text(problem);
  std::optional<TuningRecord> nearest;
  for (auto entry = std::ranges::lower_bound(entries_, alike, {}, &Entry::problem);
       entry != entries_.end() && entry->problem.starts_with(alike); ++entry) {
    const std::string_view dims = entry->problem.substr(alike.size());
    const double distant = distance(problem, dims.substr(0, dims.find('}')));
    if (distant > far || (distant == far && !nearest)) continue;
    auto record = record_of(*entry);
    if (!record || !same_family(*record, problem)) continue;
    const bool faster = nearest && same_problem(*record, *nearest) && record->us < nearest->us;
    if ((distant == far && !faster) || !is_current(*record)) continue;
    far = distant;
    nearest = std::move(record);
  }
  return nearest;
}

}  // namespace tma_jit::tuning
