#include "tuning/trial_log.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "base/text.h"
#include "tuning/problem_key.h"

namespace tma_jit::tuning {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeaths = 2;  // processes that ended while they launched a configuration, after which it counts as failed
constexpr const char* kBegun = "begun";
constexpr TuneTrial::Outcome kKept[] = {TuneTrial::Outcome::measured, TuneTrial::Outcome::failed,
                                        TuneTrial::Outcome::spills, TuneTrial::Outcome::disagrees};

Json object_of(std::string_view problem, const Candidate& candidate, std::string_view digest) {
  return {{"problem", problem},
          {"file", candidate.file},
          {"digest", digest},
          {"params", Json(std::map(candidate.params.begin(), candidate.params.end()))}};
}

std::string text_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns the part of a line that names the problem and the configuration.
std::string named(Json line) {
  for (const char* field : {"outcome", "ratio", "reason"}) line.erase(field);
  return text_of(line);
}

std::optional<TuneTrial::Outcome> outcome_named(std::string_view name) {
  for (const TuneTrial::Outcome outcome : kKept) {
    if (name == name_of(outcome)) return outcome;
  }
  return std::nullopt;
}

std::string word_in(const Json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the outcome that a line tells; nullopt if it tells none that this version knows.
std::optional<KnownTrial> known_in(const Json& line) {
  const auto outcome = outcome_named(word_in(line, "outcome"));
  const auto ratio = line.find("ratio");
  if (!outcome || ratio == line.end() || !ratio->is_number()) return std::nullopt;
  KnownTrial known{*outcome, ratio->get<double>(), word_in(line, "reason")};
  const bool sound = known.outcome != TuneTrial::Outcome::measured || (known.ratio > 0 && known.ratio < 1e9);
  return sound ? std::optional(std::move(known)) : std::nullopt;
}

// Returns the objects among the lines of a text; the last line may be a part of one.
std::vector<Json> objects_in(std::string_view text) {
  std::vector<Json> objects;
  for (const std::string_view line : split(text, '\n')) {
    auto object = trimmed(line).empty() ? Result<Json>(Json()) : read_json<Json>(line);
    if (object && object->is_object()) objects.push_back(*std::move(object));
  }
  return objects;
}

}  // namespace

std::filesystem::path trial_file(const std::filesystem::path& records) {
  std::filesystem::path file = records;
  if (!file.empty()) file += ".trials";
  return file;
}

TrialLog::TrialLog(std::filesystem::path file, std::string_view problem)
    : file_(std::move(file)), problem_(short_digest(problem)) {
  if (!file_.empty()) read();
}

void TrialLog::read() {
  for (const Json& line : objects_in(read_file(file_).value_or(std::string()))) {
    if (word_in(line, "problem") != problem_) continue;
    Entry& entry = entries_[named(line)];
    if (word_in(line, "outcome") == kBegun) ++entry.begun;
    if (auto known = known_in(line)) entry = {0, std::move(known)};
  }
}

void TrialLog::append(const std::string& line) const {
  if (!file_.empty()) (void)append_to_file(file_, "\n" + line);  // the newline ends what a killed process has begun
}

std::optional<KnownTrial> TrialLog::find(const Candidate& candidate, std::string_view digest) const {
  const auto found = entries_.find(text_of(object_of(problem_, candidate, digest)));
  if (found == entries_.end()) return std::nullopt;
  if (found->second.known || found->second.begun < kDeaths) return found->second.known;
  return KnownTrial{TuneTrial::Outcome::failed, 0, "earlier processes ended while they launched it"};
}

void TrialLog::begin(const Candidate& candidate, std::string_view digest) {
  Json line = object_of(problem_, candidate, digest);
  line["outcome"] = kBegun;
  append(text_of(line));
}

void TrialLog::keep(const Candidate& candidate, std::string_view digest, const KnownTrial& known) {
  Json line = object_of(problem_, candidate, digest);
  entries_[text_of(line)] = {0, known};
  line["outcome"] = name_of(known.outcome);
  line["ratio"] = known.ratio;
  line["reason"] = known.reason;
  append(text_of(line));
}

void TrialLog::settle() {
  if (file_.empty()) return;
  const Result<std::string> text = read_file(file_);
  if (!text) return;
  std::string kept;
  for (const Json& line : objects_in(*text)) {
    const std::string outcome = word_in(line, "outcome");
    const bool passing = outcome == kBegun || outcome == name_of(TuneTrial::Outcome::measured);
    if (!passing || word_in(line, "problem") != problem_) kept += text_of(line) + "\n";
  }
  if (kept != *text) (void)replace_file(file_, kept);
}

}  // namespace tma_jit::tuning
