#include "source/shipped_headers.h"

#include <algorithm>
#include <string_view>

#include "source/preprocessor_lines.h"

namespace tma_jit::source {
namespace {

using Entry = ShippedHeaders::Entry;

std::string_view name_of(const Entry& entry) {
  return kShippedHeaders.names + entry.name;
}

// Returns the number of a header; that of the end if there is none.
std::size_t number_of(std::string_view name) {
  const auto& entries = kShippedHeaders.entries;
  const auto found = std::ranges::lower_bound(entries, name, {}, name_of);
  const bool known = found != entries.end() && name_of(*found) == name;
  return static_cast<std::size_t>((known ? found : entries.end()) - entries.begin());
}

class Reach {
 public:
  Reach() : reached_(kShippedHeaders.entries.size()) {}

  // Returns false if the table does not say what the text reaches.
  bool add(const Scan& text) {
    if (text.refusal) return false;
    note(text.pastes, text.fragment.has_value());
    return std::ranges::all_of(text.directives, [this](const Directive& directive) {
      if (!directive.names_a_header()) return true;
      const std::size_t number = number_of(directive.argument);
      if (number == reached_.size()) return false;
      add(number);
      return true;
    });
  }

  // Returns whether a macro may paste a fragment of a forbidden name.
  bool may_paste() const { return pastes_ && fragment_; }

  std::vector<HeaderDigest> digests() const {
    std::vector<HeaderDigest> found;
    for (std::size_t number = 0; number < reached_.size(); ++number) {
      const Entry& entry = kShippedHeaders.entries[number];
      if (reached_[number]) found.push_back({std::string(name_of(entry)), entry.digest, entry.names_its_file});
    }
    return found;
  }

 private:
  void note(bool pastes, bool fragment) {
    pastes_ = pastes_ || pastes;
    fragment_ = fragment_ || fragment;
  }

  void add(std::size_t number) {
    if (reached_[number]) return;
    reached_[number] = true;
    const Entry& entry = kShippedHeaders.entries[number];
    note(entry.pastes, entry.fragment);
    for (const std::uint16_t next : kShippedHeaders.includes.subspan(entry.begin, entry.end - entry.begin)) add(next);
  }

  std::vector<bool> reached_;  // by number
  bool pastes_ = false, fragment_ = false;
};

}  // namespace

std::optional<std::vector<HeaderDigest>> shipped_reach(const std::vector<Root>& roots) {
  Reach reach;
  for (const Root& root : roots) {
    if (!reach.add(scan(root.text))) return std::nullopt;
  }
  if (reach.may_paste()) return std::nullopt;
  return reach.digests();
}

}  // namespace tma_jit::source
