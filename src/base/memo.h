// Values made once a key: remembered, and made by one caller while the others wait.
#pragma once

#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "base/failure.h"

namespace tma_jit {

// How a call to Memo::get was served.
enum class MemoPath { made, waited, remembered };

// Thread-safe. A failure goes to the callers that waited for it and is forgotten: a later call tries again. No lock is
// held while a value is made.
template <class Key, class Value> class Memo {
 public:
  template <class Make> Result<Value> get(const Key& key, Make&& make, MemoPath* path = nullptr) {
    std::unique_lock lock(mutex_);
    if (const auto known = values_.find(key); known != values_.end()) {
      return served(path, MemoPath::remembered, known->second);
    }
    if (const auto flight = flights_.find(key); flight != flights_.end()) {
      const std::shared_future<Result<Value>> other = flight->second;
      lock.unlock();
      return served(path, MemoPath::waited, other.get());
    }
    std::promise<Result<Value>> promise;
    flights_.emplace(key, promise.get_future().share());
    lock.unlock();
    return served(path, MemoPath::made, land(key, promise, make));
  }

 private:
  template <class Outcome> static Result<Value> served(MemoPath* path, MemoPath how, Outcome&& outcome) {
    if (path != nullptr) *path = how;
    return std::forward<Outcome>(outcome);
  }

  // An exception (out of memory, the embedder's log callback) passes through to all callers.
  template <class Make> Result<Value> land(const Key& key, std::promise<Result<Value>>& promise, Make& make) {
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
    const std::lock_guard lock(mutex_);
    if (outcome != nullptr && *outcome) values_.emplace(key, **outcome);
    flights_.erase(key);
  }

  std::mutex mutex_;
  std::map<Key, Value> values_;
  std::map<Key, std::shared_future<Result<Value>>> flights_;
};

}  // namespace tma_jit
