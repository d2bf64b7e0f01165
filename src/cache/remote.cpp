#include "cache/remote.h"

#include <utility>

#include <fmt/format.h>

#include "cache/remote_catalogue.h"
#include "cache/remote_session.h"

namespace tma_jit::cache {
namespace {

constexpr std::chrono::milliseconds kUploadMax{10'000};  // of one entry, in the background

Result<std::shared_ptr<RemoteSession>> open_session(const RemoteSettings& settings) {
  auto policy = read_pack_policy(settings.keys, settings.system_keys);
  if (!policy) return tl::make_unexpected(std::move(policy).error());
  auto reader = RemoteClient::open(settings.address, settings.wait);
  if (!reader) return tl::make_unexpected(std::move(reader).error());
  auto writer = RemoteClient::open(settings.address, kUploadMax);
  if (!writer) return tl::make_unexpected(std::move(writer).error());
  return std::make_shared<RemoteSession>(settings, *std::move(policy), *std::move(reader), *std::move(writer));
}

}  // namespace

Remote::Remote(RemoteSettings settings, std::function<void(const std::string&)> warn)
    : settings_(std::move(settings)), warn_(std::move(warn)) {}

Remote::~Remote() {
  Slot& slot = slot_.get();
  if (!slot.session) return;
  slot.session->close(settings_.flush);
  warn_of(slot.session->take_fault());
}

void Remote::warn_of(const std::string& fault) {
  if (fault.empty() || warned_.exchange(true)) return;
  warn_(fmt::format("remote cache {}; going on without it (said once; later faults are counted)", fault));
}

// A session that cannot be opened is not tried again.
std::shared_ptr<RemoteSession> Remote::session() {
  Slot& slot = slot_.get();
  const std::lock_guard lock(slot.mutex);
  if (std::exchange(slot.opened, true)) return slot.session;
  auto opened = open_session(settings_);
  if (opened) {
    slot.session = *std::move(opened);
  } else {
    warn_of(opened.error().text());
  }
  return slot.session;
}

std::optional<Entry> Remote::get(const Key& key, const IsUsable& is_usable, const Keep& keep,
                                 std::shared_ptr<const void> held) {
  if (settings_.role == RemoteRole::write_only) return std::nullopt;
  const auto open = session();
  if (!open) {
    ++skipped_;
    return std::nullopt;
  }
  auto fetched = open->get(key, is_usable, keep, std::move(held));
  using Outcome = RemoteSession::Outcome;
  switch (fetched.outcome) {
    case Outcome::hit: ++hits_; break;
    case Outcome::absent: ++misses_; break;
    case Outcome::failed: ++errors_; break;
    case Outcome::refused: ++refused_; break;
    case Outcome::skipped: ++skipped_; break;
  }
  warn_of(fetched.fault);
  return std::move(fetched.entry);
}

std::vector<std::string> Remote::compilers() {
  const auto entry = get(
      catalogue_key(), [](const Entry&) { return true; }, [](std::span<const std::byte>) {});
  return entry ? catalogue_in(*entry).compilers : std::vector<std::string>();
}

void Remote::upload(const Key& key, std::vector<std::byte> encoded) {
  if (settings_.role == RemoteRole::read_only) return;
  const auto open = session();
  if (!open || !open->upload(key, std::move(encoded))) ++not_uploaded_;
  if (open) warn_of(open->take_fault());
}

void Remote::add_to(CacheStats& stats) {
  stats.remote_hits = hits_;
  stats.remote_misses = misses_;
  stats.remote_errors = errors_;
  stats.remote_refused = refused_;
  stats.remote_skipped = skipped_;
  stats.remote_upload_failures = not_uploaded_;
  Slot& slot = slot_.get();
  const std::lock_guard lock(slot.mutex);
  stats.remote_off = slot.opened && (!slot.session || slot.session->off()) ? 1 : 0;
  if (!slot.session) return;
  stats.remote_uploads = slot.session->counts().uploads;
  stats.remote_upload_failures += slot.session->counts().upload_failures;
}

}  // namespace tma_jit::cache
