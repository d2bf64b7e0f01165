#include "engine/builder.h"

#include <algorithm>

#include "base/profile.h"
#include "base/text.h"
#include "cache/crash_files.h"
#include "core/failure.h"
#include "source/key.h"

namespace tma_jit::engine {

namespace {

constexpr int kReplacementsMax = 3;  // most replacements of NVRTC during one call

std::filesystem::path crash_folder(const EngineCompiler::Settings& compiler) {
  return compiler.cache_dir.empty() ? std::filesystem::path() : compiler.cache_dir / cache::kCrashFolder;
}

}  // namespace

Builder::Builder(Settings settings, Logger log, Counters& counters, Misses& misses)
    : settings_(std::move(settings)),
      log_(std::move(log)),
      counters_(counters),
      misses_(misses),
      compiler_(settings_.compiler, log_),
      crashes_(crash_folder(settings_.compiler)) {
  if (!settings_.use_cache) return;
  cache::LayerSettings layers = settings_.cache;
  layers.report = [this](const std::string& what) { warn_once(what); };
  layers.warn = [this](const std::string& what) { log_->warn("cache: {}", what); };
  layers.is_usable = [](const Key& key, const cache::Entry& entry) { return built_from(entry, key).has_value(); };
  layers.progress = [this](const std::string& what) { log_->info("cache: {}", what); };
  cache_.emplace(std::move(layers));
}

Result<void> Builder::cache_writable() {
  if (!cache_) return failure(ErrorCode::invalid_argument, "the cache is off");
  return cache_->writable();
}

std::vector<cache::Layers::Records> Builder::carried_records() {
  return cache_ ? cache_->records() : std::vector<cache::Layers::Records>();
}

void Builder::add_cache_stats(CacheStats& stats) {
  if (!cache_) return;
  const cache::Layers::Tally& tally = cache_->tally();
  stats.node_hits = tally.node_hits;
  stats.read_only_hits = tally.read_only_hits;
  stats.waits = tally.waits;
  stats.wait_timeouts = tally.wait_timeouts;
  stats.lockless = tally.lockless;
  stats.evicted = cache_->evicted();
  cache_->add_remote_stats(stats);
}

void Builder::warn_once(const std::string& what) {
  const bool again = warned_.exchange(true);
  if (again) return log_->debug("cache: {}", what);
  log_->warn("cache: {}; going on without it (said once; later faults are counted)", what);
}

Result<Key> Builder::key(const source::Draft& draft) {
  auto found = compiler_.location();
  if (found) return draft.key(found->identity);
  TMA_JIT_ASSIGN(const Built built, find_recorded(draft, std::move(found).error()));
  return built.artifact->key;
}

Result<std::string> Builder::ptx(const Source& source) {
  TMA_JIT_ASSIGN(const auto opened, compiler_.open());
  return opened->ptx(source);
}

// `compiled` is true only for the caller that compiled it, not for those that waited or found it later.
Result<Built> Builder::build(const source::Draft& draft) {
  auto found = compiler_.location();
  if (!found) {
    auto recorded = find_recorded(draft, std::move(found).error());
    if (!recorded) TMA_JIT_CHECK(admit_without_compiler(draft.source()));
    return recorded;
  }
  auto built = build_with(*found, draft);
  // If NVRTC has been replaced since it was located, its identity and therefore the keys have changed.
  for (int again = 0; !built && again < kReplacementsMax; ++again) {
    const auto now = compiler_.location();
    if (!now || now->identity == found->identity) break;
    found = now;
    built = build_with(*found, draft);
  }
  return built;
}

// Not through the memory of what was built: a caller that builds the kernel now must not wait for a lookup that fails.
Result<Built> Builder::find(const source::Draft& draft) {
  if (!cache_) return failure(ErrorCode::not_found, "the cache is off");
  const auto found = compiler_.location();
  if (!found) return find_recorded(draft, found.error());
  auto built = fetch(draft.key(found->identity));
  if (!built && built.error().code == ErrorCode::not_found)
    return failure(ErrorCode::not_found, "{} for {} is not in the cache", draft.kernel(), draft.arch());
  return built;
}

// Reports a miss to the seal in the same way as if a compiler were present.
Result<void> Builder::admit_without_compiler(const Source& source) {
  const std::string identity = likely_identity();
  const Misses::Cause cause{[&] { return differences(source, identity); }, false};
  return misses_.admit(source, source::key_of(source, identity), cause);
}

Result<Built> Builder::build_with(const compile::Location& found, const source::Draft& draft) {
  const Key key = draft.key(found.identity);
  bool compiled = false;
  MemoPath path{};
  TMA_JIT_ASSIGN(Built built, built_.get(
                                  key, [&] { return make(draft, key, found.identity, compiled); }, &path));
  if (path != MemoPath::made) ++counters_.memory_hits;
  if (compiled) {
    Artifact mine = *built.artifact;
    mine.compiled = true;
    built.artifact = std::make_shared<const Artifact>(std::move(mine));
  }
  return built;
}

// After a miss, waits for another process that compiles the same kernel, then looks again.
Result<Built> Builder::make(const source::Draft& draft, const Key& key, const std::string& identity, bool& compiled) {
  cache::Turn turn;
  bool damaged = false;
  if (cache_) {
    auto kept = fetch(key);
    if (kept) return kept;
    damaged = kept.error().code != ErrorCode::not_found;
    if (!damaged) ++counters_.disk_misses;
    turn = cache_->turn(key);
    if (turn.found && (kept = take(key, {std::move(turn.found), cache::MissReason::none, {}, {}}))) return kept;
  }
  TMA_JIT_ASSIGN(Built built, compile(draft.source(), key, identity));
  compiled = true;
  if (cache_ && publish(built, draft.source(), turn) && damaged) ++counters_.healed;
  return built;
}

Result<Built> Builder::rebuild(const Source& source, const Built& refused) {
  const Key& key = refused.artifact->key;
  TMA_JIT_ASSIGN(const compile::Location found, compiler_.location());
  if (!cache_ || source::key_of(source, found.identity) != key)
    return failure(ErrorCode::nvrtc, "{} was compiled by {}, which is not here", key.hex(), refused.compiler);
  const auto is_other = [rejected = refused.artifact](const cache::Entry& entry) {
    return entry.cubin != rejected->bytes;
  };
  cache::Turn turn = cache_->turn(key, is_other);
  if (turn.found) {
    TMA_JIT_ASSIGN(Built replaced, built_from(*std::move(turn.found), key));
    built_.replace(key, replaced);
    return replaced;
  }
  TMA_JIT_ASSIGN(Built built, compile(source, key, found.identity));
  if (built.artifact->bytes == refused.artifact->bytes) return built;
  log_->warn("cache: the driver refuses the entry {} of {} for {}; it was compiled again and is replaced", key.hex(),
             source.kernel, source.arch);
  ++counters_.faults[static_cast<std::size_t>(cache::MissReason::corrupt)];
  ++counters_.disk_faults;
  if (publish(built, source, turn)) ++counters_.healed;
  built_.replace(key, built);
  return built;
}

Result<Built> Builder::fetch(const Key& key) {
  return take(key, cache_->get(key));
}

// Fails with not_found if there is no entry; any other error is an unusable entry, which is counted here.
Result<Built> Builder::take(const Key& key, cache::Lookup lookup) {
  if (lookup.reason == cache::MissReason::absent) return failure(ErrorCode::not_found, "{} is not there", key.hex());
  Result<Built> built = lookup.entry ? built_from(std::move(*lookup.entry), key)
                                     : Result<Built>(failure(ErrorCode::io, "{}", lookup.detail));
  if (built) {
    ++counters_.disk_hits;
    return built;
  }
  const auto reason = lookup.reason == cache::MissReason::none ? cache::MissReason::format : lookup.reason;
  ++counters_.faults[static_cast<std::size_t>(reason)];
  ++counters_.disk_faults;
  warn_once(built.error().message);
  return built;
}

std::optional<CrashMemory::Crash> Builder::crash_of(const source::Draft& draft) {
  const auto found = compiler_.location();
  return found ? crashes_.find(draft.key(found->identity)) : std::nullopt;
}

Result<Built> Builder::compile(const Source& source, const Key& key, const std::string& identity) {
  if (const auto crash = crashes_.find(key)) {
    return tl::make_unexpected(
        Error{ErrorCode::crash, crash->reason,
              fmt::format("that was before; it is not tried again for a week unless {} is removed",
                          (crash_folder(settings_.compiler) / (key.hex() + std::string(cache::kCrashSuffix))).string()),
              ErrorReason::crashed_before});
  }
  TMA_JIT_CHECK(misses_.admit(source, key, {[&] { return differences(source, identity); }, true}));
  const profile::Range range("compile", source.kernel);
  auto artifact = compiler_.compile(source, key, identity);
  if (!artifact) {
    ++counters_.compile_failures;
    const Error& error = artifact.error();
    // A compile that failed for lack of memory, or because it was killed, may succeed in another process.
    const bool lasting = error.reason == ErrorReason::compiler_crashed || error.reason == ErrorReason::compiler_hung;
    if (error.code == ErrorCode::crash) crashes_.remember(key, error.message, lasting);
    return tl::make_unexpected(std::move(artifact).error());
  }
  ++counters_.compiles;
  counters_.compile_ms += artifact->compile_ms;
  artifact->key = key;
  artifact->compiled = false;
  log_->info("compiled {} for {} in {:.0f} ms", source.kernel, source.arch, artifact->compile_ms);
  return Built{std::make_shared<const Artifact>(*std::move(artifact)), identity, false};
}

bool Builder::publish(const Built& built, const Source& source, cache::Turn& turn) {
  const Artifact& artifact = *built.artifact;
  const Fields fields = source::key_fields(source, built.compiler);
  const auto written =
      cache_->put(artifact.key, {artifact.bytes, metadata_of(artifact, source.kernel, built.compiler, fields)}, turn);
  if (written) cache_->record_compiler(built.compiler);
  if (written) cache_->add_to_index(artifact.key, marks_of(source.kernel, fields));
  ++(written ? counters_.disk_writes : counters_.disk_write_failures);
  if (!written) warn_once(written.error().message);
  return written.has_value();
}

// For a process without NVRTC but with a filled cache: the cache lists the compilers that filled it, and each gives a
// key to try.
Result<Built> Builder::find_recorded(const source::Draft& draft, Error no_compiler) {
  const auto identities = cache_ ? cache_->compilers() : std::vector<std::string>();
  for (const std::string& identity : identities) {
    const Key key = draft.key(identity);
    MemoPath path{};
    auto built = built_.get(
        key, [&] { return fetch(key); }, &path);
    if (built && path != MemoPath::made) ++counters_.memory_hits;
    if (built) return built;
  }
  for (const std::string& identity : cache_ ? cache_->remote_compilers() : std::vector<std::string>()) {
    const Key key = draft.key(identity);
    auto built = built_.get(key, [&] {
      auto entry = cache_->ask_remote(key);
      const auto reason = entry ? cache::MissReason::none : cache::MissReason::absent;
      return take(key, {std::move(entry), reason, {}, {}});
    });
    if (built) return built;
  }
  if (cache_) {
    ++counters_.disk_misses;
    if (!no_compiler.detail.empty() && no_compiler.detail.back() != '\n') no_compiler.detail += '\n';
    no_compiler.detail += fmt::format("the cache {} has no {} for {} by any of the {} compilers recorded there",
                                      settings_.cache.root.string(), draft.kernel(), draft.arch(), identities.size());
  }
  return tl::make_unexpected(std::move(no_compiler));
}

}  // namespace tma_jit::engine
