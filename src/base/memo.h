// A cache of values by key, each computed by one caller while others wait.
#pragma once

#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "core/failure.h"

namespace tma_jit {

// How a call of Memo::get obtained its value.
enum class MemoPath { made, waited, remembered };

// Thread-safe; the child of a fork starts with an empty one. A failure is returned to the callers that waited for it
// and then forgotten, so that a later call tries again. No lock is held while a value is computed.
template <class Key, class Value> class Memo {
 public:
  // Replaces a value that turned out to be unusable.
  void replace(const Key& key, Value value) {
    Members& members = members_.get();
    const std::lock_guard lock(members.mutex);
    members.values.insert_or_assign(key, std::move(value));
  }

  template <class Make> [[nodiscard]] Result<Value> get(const Key& key, Make&& make, MemoPath* path = nullptr) {
    Members& members = members_.get();
    std::unique_lock lock(members.mutex);
    if (const auto known = members.values.find(key); known != members.values.end()) {
      return served(path, MemoPath::remembered, known->second);
    }
    if (const auto flight = members.flights.find(key); flight != members.flights.end()) {
      const std::shared_future<Result<Value>> other = flight->second;
      lock.unlock();
      return served(path, MemoPath::waited, other.get());
    }
    std::promise<Result<Value>> promise;
    members.flights.emplace(key, promise.get_future().share());
    lock.unlock();
    return served(path, MemoPath::made, land(key, promise, make));
  }

 private:
  template <class Outcome> [[nodiscard]] static Result<Value> served(MemoPath* path, MemoPath how, Outcome&& outcome) {
    if (path != nullptr) *path = how;
    return std::forward<Outcome>(outcome);
  }

  // An exception (out of memory, from the embedder's log callback) propagates to all waiting callers.
  template <class Make>
  [[nodiscard]] Result<Value> land(const Key& key, std::promise<Result<Value>>& promise, Make& make) {
    try {
      Result<Value> outcome = make();
      finish(key, &outcome);
      promise.set_value(outcome);
      return outcome;
    } catch (...) {
      finish(key, nullptr);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  void finish(const Key& key, const Result<Value>* outcome) {
    Members& members = members_.get();
    const std::lock_guard lock(members.mutex);
    if (outcome != nullptr && *outcome) members.values.emplace(key, **outcome);
    members.flights.erase(key);
  }

  struct Members {
    std::mutex mutex;
    std::map<Key, Value> values;
    std::map<Key, std::shared_future<Result<Value>>> flights;
  };
  PerProcess<Members> members_;
};

}  // namespace tma_jit
