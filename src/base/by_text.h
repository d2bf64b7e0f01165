// What was found out about the texts of files, remembered while a file has the same text.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/fork.h"

namespace tma_jit {

// Thread-safe; the child of a fork starts with an empty one. Values are small, or pointers. It is emptied when it knows
// kMost files.
template <class Value> class ByText {
 public:
  static constexpr std::size_t kMost = 256;

  // Returns make(text), which is called without a lock.
  template <class Make> Value get(std::string_view name, std::string_view text, const Make& make) {
    Members& members = members_.get();
    {
      const std::lock_guard lock(members.mutex);
      const auto found = members.by_name.find(name);
      if (found != members.by_name.end() && found->second.text == text) return found->second.value;
    }
    Value value = make(text);
    const std::lock_guard lock(members.mutex);
    if (members.by_name.size() >= kMost) members.by_name.clear();
    members.by_name.insert_or_assign(std::string(name), Known{std::string(text), value});
    return value;
  }

 private:
  struct Known {
    std::string text;
    Value value;
  };
  struct Members {
    std::mutex mutex;
    std::map<std::string, Known, std::less<>> by_name;
  };

  PerProcess<Members> members_;
};

}  // namespace tma_jit
