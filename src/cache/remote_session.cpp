#include "cache/remote_session.h"

#include <utility>

#include <fmt/format.h>

#include "cache/remote_entry.h"

namespace tma_jit::cache {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

RemoteSession::RemoteSession(const RemoteSettings& settings, PackPolicy policy, std::shared_ptr<RemoteClient> reader,
                             std::shared_ptr<RemoteClient> writer)
    : settings_(settings),
      policy_(std::move(policy)),
      reader_(std::move(reader)),
      writer_(std::move(writer)),
      patience_(settings.wait) {}

bool RemoteSession::spawn(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  const auto end = [](RemoteSession& self) {
    const std::lock_guard lock(self.mutex_);
    --self.threads_;
    self.changed_.notify_all();
  };
  if (start_detached([self = shared_from_this(), work = std::move(work), end] {
        work();
        end(*self);
      }))
    return true;
  end(*this);
  return false;
}

// After a fault one request at a time is made without waiting for it; when it is answered, the next one is waited for.
void RemoteSession::try_in_background(const Key& key, const Remote::IsUsable& is_usable, const Remote::Keep& keep) {
  const auto trial = [self = shared_from_this(), key, is_usable, keep] {
    const auto start = Clock::now();
    const Fetched fetched = self->fetch(key, is_usable);
    self->learn(fetched, Clock::now() - start);
    if (fetched.encoded) keep(*fetched.encoded);
  };
  if (!spawn(trial)) reads_.failed(Clock::now(), false);
}

// An answer that comes too late for its caller is kept for the next.
RemoteSession::Fetched RemoteSession::fetch_in_time(const Key& key, const Remote::IsUsable& is_usable,
                                                    const Remote::Keep& keep) {
  const auto late = std::make_shared<std::atomic<bool>>(false);
  auto fetched = patience_.within([self = shared_from_this(), key, is_usable, keep, late] {
    Fetched found = self->fetch(key, is_usable);
    if (*late && found.encoded) keep(*found.encoded);
    return found;
  });
  if (fetched) return *std::move(fetched);
  *late = true;
  return {Outcome::failed, {}, fmt::format("{}: no answer in time", reader_->name()), {}};
}

RemoteSession::Fetched RemoteSession::get(const Key& key, const Remote::IsUsable& is_usable, const Remote::Keep& keep,
                                          std::shared_ptr<const void> held) {
  const Breaker::Pass pass = reads_.pass(Clock::now());
  if (pass == Breaker::Pass::background) try_in_background(key, is_usable, keep);
  if (pass != Breaker::Pass::wait) return {Outcome::skipped, {}, {}, {}};
  const auto start = Clock::now();
  Fetched fetched = fetch_in_time(key, is_usable, keep);
  learn(fetched, Clock::now() - start);
  if (fetched.encoded) (void)spawn([keep, bytes = fetched.encoded, held = std::move(held)] { keep(*bytes); });
  return fetched;
}

// An answer that took more than half of the time allowed counts as a fault too: a slow server costs one wait, not one
// for each kernel.
void RemoteSession::learn(const Fetched& fetched, Clock::duration took) {
  const bool waited = took * 2 > settings_.wait;
  refused_in_row_ = fetched.outcome == Outcome::refused ? refused_in_row_ + 1 : 0;
  const bool failed = fetched.outcome == Outcome::failed || refused_in_row_ >= kRefusedMax;
  if (failed || waited) return reads_.failed(Clock::now(), waited);
  reads_.answered();
}

RemoteSession::Fetched RemoteSession::fetch(const Key& key, const Remote::IsUsable& is_usable) {
  const RemoteClient::Reply reply = reader_->get(key);
  const auto fault = [&](Outcome outcome, const std::string& what) {
    return Fetched{outcome, {}, fmt::format("{}: {}", reader_->name(), what), {}};
  };
  if (reply.status == TMA_JIT_REMOTE_ABSENT) return {Outcome::absent, {}, {}, {}};
  if (!reply.ok()) return fault(Outcome::failed, reply.reason);
  auto found = from_remote(reply.bytes, key, policy_);
  if (!found) return fault(Outcome::refused, fmt::format("its entry {}: {}", key.hex(), found.error().detail));
  if (!is_usable(found->entry)) return fault(Outcome::refused, fmt::format("its entry {} is no kernel", key.hex()));
  auto encoded = std::make_shared<std::vector<std::byte>>(found->encoded.begin(), found->encoded.end());
  return {Outcome::hit, std::move(found->entry), {}, std::move(encoded)};
}

bool RemoteSession::upload(const Key& key, std::vector<std::byte> encoded) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || uploads_.size() >= kUploadsMax || encoded.size() > kUploadBytesMax - upload_bytes_) return false;
    upload_bytes_ += encoded.size();
    uploads_.push_back({key, std::move(encoded)});
    if (std::exchange(sending_, true)) return true;
  }
  if (spawn([self = shared_from_this()] { self->work_off(); })) return true;
  const std::lock_guard lock(mutex_);
  sending_ = false;
  return false;
}

void RemoteSession::work_off() {
  while (true) {
    Upload next;
    {
      const std::lock_guard lock(mutex_);
      if (uploads_.empty()) {
        sending_ = false;
        changed_.notify_all();
        return;
      }
      next = std::move(uploads_.front());
      uploads_.pop_front();
      upload_bytes_ -= next.encoded.size();
    }
    send(next);
  }
}

// While the server fails, entries are dropped, so that the queue is soon empty.
void RemoteSession::send(const Upload& upload) {
  std::string fault;
  if (writes_.pass(Clock::now()) != Breaker::Pass::no) {
    const auto bytes = to_remote(upload.encoded, settings_.sign_key);
    const RemoteClient::Reply reply = bytes ? writer_->put(upload.key, *bytes) : RemoteClient::Reply{};
    if (reply.ok()) {
      writes_.answered();
      ++counts_.uploads;
      return;
    }
    writes_.failed(Clock::now(), false);
    fault =
        fmt::format("{}: it does not take entries: {}", writer_->name(), bytes ? reply.reason : bytes.error().message);
  }
  ++counts_.upload_failures;
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) fault_ = std::move(fault);
}

std::string RemoteSession::take_fault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fault_, {});
}

void RemoteSession::close(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  closing_ = true;
  const auto until = Clock::now() + limit;
  changed_.wait_until(lock, until, [&] { return !sending_ || reads_.is_open() || writes_.is_open(); });
  counts_.upload_failures += uploads_.size();
  uploads_.clear();
  lock.unlock();
  reader_->cancel();
  writer_->cancel();
  lock.lock();
  changed_.wait_for(lock, kEndMax, [&] { return threads_ == 0; });
}

}  // namespace tma_jit::cache
