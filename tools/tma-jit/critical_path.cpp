#include "critical_path.h"

#include <algorithm>
#include <string_view>

namespace tma_jit::cli {
namespace {

using Kind = TimelineEvent::Kind;

bool is_instruction(const TimelineEvent& event) {
  return event.kind == Kind::run || event.kind == Kind::issue;
}
bool is_operation(const TimelineEvent& event) {
  return event.kind == Kind::copy || event.kind == Kind::product;
}
// A wait for a group is one for operations of the warp, or with wgmma of its four warps, unlike one for an mbarrier.
bool waits_for_own(const TimelineEvent& stall) {
  return stall.name.find("wait_group") != std::string::npos || stall.name.find("wait_all") != std::string::npos;
}
bool is_of_same_group(const TimelineEvent& stall, const TimelineEvent& operation) {
  const std::uint32_t warps = stall.name.starts_with("wgmma") ? 4 : 1;
  return stall.track / warps == operation.track / warps;
}
bool waits_for_warps(const TimelineEvent& stall) {
  return stall.name.starts_with("bar.") || stall.name.starts_with("barrier.");
}

class Path {
 public:
  explicit Path(std::vector<TimelineEvent>& events) : events_(events) {
    for (TimelineEvent& event : events) by_end_.push_back(&event);
    std::ranges::stable_sort(by_end_, {}, &TimelineEvent::end);
  }

  void mark() {
    TimelineEvent* at =
        latest(events_.empty() ? 0 : by_end_.back()->end, [](const auto& e) { return e.kind != Kind::phase; });
    // Each step goes to an event that begins earlier, or that is marked for the first time.
    while (at != nullptr && !at->critical) at = before(*at);
  }

 private:
  // The unmarked event of those that `fits` accepts that ended last, at `time` or before, and after `since`.
  template <class Fits> TimelineEvent* latest(double time, Fits&& fits, double since = -1) const {
    auto found = std::ranges::upper_bound(by_end_, time, {}, &TimelineEvent::end);
    while (found != by_end_.begin()) {
      if ((*--found)->end <= since) return nullptr;
      if (!(*found)->critical && fits(**found)) return *found;
    }
    return nullptr;
  }

  TimelineEvent* of_warp(std::uint32_t warp, double time) const {
    return latest(
        time, [&](const TimelineEvent& e) { return e.track == warp && (is_instruction(e) || e.kind == Kind::stall); });
  }

  TimelineEvent* cause_of(const TimelineEvent& stall) const {
    TimelineEvent* operation = nullptr;
    if (!waits_for_warps(stall)) {
      const auto ends_it = [&](const TimelineEvent& e) {
        return is_operation(e) && (!waits_for_own(stall) || is_of_same_group(stall, e));
      };
      operation = latest(stall.end, ends_it, stall.begin);
    }
    if (operation != nullptr || waits_for_own(stall)) return operation;
    const auto of_another = [&](const TimelineEvent& e) { return is_instruction(e) && e.track != stall.track; };
    return latest(stall.end, of_another, stall.begin);
  }

  // Marks an event, unless it is a stall that something else ended, and returns the one that it waited for.
  TimelineEvent* before(TimelineEvent& event) {
    if (event.kind == Kind::stall) {
      if (TimelineEvent* cause = cause_of(event)) return cause;
    }
    event.critical = true;
    return of_warp(event.track, event.begin);
  }

  std::vector<TimelineEvent>& events_;
  std::vector<TimelineEvent*> by_end_;
};

}  // namespace

void mark_critical_path(std::vector<TimelineEvent>& events) {
  Path(events).mark();
}

}  // namespace tma_jit::cli
