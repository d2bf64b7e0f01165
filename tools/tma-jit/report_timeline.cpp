#include "report_timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "critical_path.h"

namespace tma_jit::cli {
namespace {

using Kind = TimelineEvent::Kind;

constexpr std::size_t kMostEvents = 6000;      // of one timeline in a page
constexpr std::size_t kMostName = 160;         // bytes
constexpr std::uint32_t kFirstBarrier = 1000;  // tracks of barriers: emulator/observe/trace.h

// Returns a field as a number that is finite and not negative, or -1.
double number_of(const Json& event, const char* name) {
  if (!event.contains(name) || !event[name].is_number()) return -1;
  const double value = event[name].get<double>();
  return std::isfinite(value) && value >= 0 ? value : -1;
}

std::string text_of(const Json& event, const char* name) {
  return event.contains(name) && event[name].is_string() ? event[name].get<std::string>().substr(0, kMostName) : "";
}

Kind kind_of_operation(std::string_view name) {
  const bool product = name.find("mma") != std::string_view::npos;
  return product ? Kind::product : Kind::copy;
}

Kind kind_of_slice(std::string_view category) {
  if (category == "issue") return Kind::issue;
  if (category == "wait") return Kind::stall;
  return category == "phase" ? Kind::phase : Kind::run;
}

// The events of one process of a trace, which is a block.
class BlockReader {
 public:
  explicit BlockReader(double process) : process_(process) {}

  // Returns false if this is not an event as the emulator writes it.
  bool read(const Json& event) {
    if (!event.is_object()) return false;
    const std::string phase = text_of(event, "ph");
    if (phase.empty() || number_of(event, "pid") < 0) return false;
    if (number_of(event, "pid") != process_) return true;
    if (phase == "M") return read_name(event);
    const double time = number_of(event, "ts"), track = number_of(event, "tid");
    if (time < 0 || track < 0 || track > std::numeric_limits<std::uint32_t>::max()) return false;
    TimelineEvent made{.kind = kind_of_slice(text_of(event, "cat")),
                       .track = static_cast<std::uint32_t>(track),
                       .begin = time,
                       .end = time,
                       .name = text_of(event, "name")};
    if (phase == "X") return add(std::move(made), number_of(event, "dur"));
    const double id = number_of(event, "id");
    if ((phase != "b" && phase != "e") || id < 0) return false;
    if (phase == "b") {
      made.kind = kind_of_operation(made.name);
      begun_[id] = std::move(made);
      return true;
    }
    const auto found = begun_.find(id);
    if (found == begun_.end()) return false;
    const double begin = found->second.begin;
    const bool added = add(std::move(found->second), time - begin);
    begun_.erase(found);
    return added;
  }

  std::vector<TimelineEvent>& events() { return events_; }
  std::string track_name(std::uint32_t track) const {
    const auto found = names_.find(track);
    if (found != names_.end()) return found->second;
    return track < kFirstBarrier ? fmt::format("warp {}", track) : fmt::format("barrier {}", track);
  }

 private:
  bool read_name(const Json& event) {
    const double track = number_of(event, "tid");
    if (text_of(event, "name") != "thread_name" || track < 0 || track > std::numeric_limits<std::uint32_t>::max())
      return true;
    if (!event.contains("args") || !event["args"].is_object()) return false;
    names_[static_cast<std::uint32_t>(track)] = text_of(event["args"], "name");
    return true;
  }

  bool add(TimelineEvent event, double duration) {
    if (duration < 0) return false;
    event.end = event.begin + duration;
    events_.push_back(std::move(event));
    return true;
  }

  double process_;
  std::vector<TimelineEvent> events_;
  std::map<double, TimelineEvent> begun_;
  std::map<std::uint32_t, std::string> names_;
};

// Indices of texts, in the order of their first use.
class Index {
 public:
  std::size_t of(const std::string& text) {
    const auto [found, added] = places_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return found->second;
  }
  const Json& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> places_;
  Json texts_ = Json::array();
};

// A warp's operations have rows of their own below the warp's, because they go on while it does something else.
std::string row_of(const BlockReader& block, const TimelineEvent& event) {
  const std::string name = block.track_name(event.track);
  if (event.kind == Kind::copy) return name + ": copies";
  return event.kind == Kind::product ? name + ": products" : name;
}

// Rows in the order of warps, each with its operations, then barriers.
Json sorted_rows(const BlockReader& block, const std::vector<TimelineEvent>& events, Index& rows) {
  std::map<std::pair<std::uint32_t, int>, std::string> order;
  for (const TimelineEvent& e : events) {
    const int below = e.kind == Kind::copy ? 1 : e.kind == Kind::product ? 2 : 0;
    order.emplace(std::pair(e.track, below), row_of(block, e));
  }
  for (const auto& [place, name] : order) rows.of(name);
  return rows.texts();
}

double critical_ticks(const std::vector<TimelineEvent>& events) {
  double ticks = 0;
  for (const TimelineEvent& e : events) ticks += e.critical ? e.end - e.begin : 0;
  return ticks;
}

Json to_json(const BlockReader& block, std::vector<TimelineEvent>& events) {
  double first = std::numeric_limits<double>::max();
  // The first phase of a barrier begins with the launch, before its block does.
  for (const TimelineEvent& e : events) first = e.kind == Kind::phase ? first : std::min(first, e.begin);
  std::ranges::stable_sort(events, {}, &TimelineEvent::begin);
  const std::size_t shown = std::min(events.size(), kMostEvents);
  const std::size_t left_out = events.size() - shown;
  const double ticks = critical_ticks(events);
  events.resize(shown);
  Index rows, names;
  Json object = {{"critical_ticks", ticks}, {"left_out", left_out}, {"rows", sorted_rows(block, events, rows)}};
  Json list = Json::array();
  for (const TimelineEvent& e : events) {
    list.push_back(Json::array({rows.of(row_of(block, e)), std::max(0.0, e.begin - first), std::max(0.0, e.end - first),
                                static_cast<int>(e.kind), names.of(e.name), e.critical ? 1 : 0}));
  }
  object["names"] = names.texts();
  object["events"] = std::move(list);
  return object;
}

}  // namespace

Outcome<Json> timeline_of(const std::string& file, const Json& trace, std::uint32_t block) {
  if (!trace["traceEvents"].is_array() || !trace.contains("launches") || !trace["launches"].is_array() ||
      trace["launches"].empty()) {
    return failed(ErrorCode::parse, "{}: it is a trace, but not one of the emulator", file);
  }
  const Json& launch = trace["launches"][0];
  BlockReader reader(block);
  for (const Json& event : trace["traceEvents"]) {
    if (!reader.read(event)) return failed(ErrorCode::parse, "{}: an event is not as the emulator writes it", file);
  }
  const auto ran = [](const TimelineEvent& e) { return e.kind != Kind::phase; };
  if (std::ranges::none_of(reader.events(), ran)) {
    return failed(ErrorCode::not_found, "{}: the trace has no block {} in its first launch", file, block);
  }
  mark_critical_path(reader.events());
  Json object = {{"kernel", text_of(launch, "kernel")}, {"arch", text_of(launch, "arch")}, {"block", block}};
  object.update(to_json(reader, reader.events()));
  return object;
}

}  // namespace tma_jit::cli
