#include "engine_build.h"

#include <algorithm>

#include "base/failure.h"
#include "base/profile.h"
#include "base/text.h"
#include "cache/crash_files.h"
#include "source/key.h"

namespace tma_jit {

namespace {

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
  layers.progress = [this](const std::string& what) { log_->info("cache: {}", what); };
  cache_.emplace(std::move(layers));
}

Result<void> Builder::cache_writable() {
  if (!cache_) return failure(ErrorCode::invalid_argument, "the cache is off");
  return cache_->writable();
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
}

void Builder::warn_once(const std::string& what) {
  const bool again = warned_.exchange(true);
  if (again) return log_->debug("cache: {}", what);
  log_->warn("cache: {}; going on without it (said once; later faults are counted)", what);
}

Result<Key> Builder::key(const Source& source) {
  auto found = compiler_.location();
  if (found) return emission::key_of(source, found->identity);
  TMA_JIT_ASSIGN(const Built built, find_recorded(source, std::move(found).error()));
  return built.cubin->key;
}

Result<std::string> Builder::ptx(const Source& source) {
  TMA_JIT_ASSIGN(const auto opened, compiler_.open());
  return opened->ptx(source);
}

// The caller whose compile it was is told so; whoever finds the cubin later, or waited for it, is told it was there.
Result<Built> Builder::build(const Source& source) {
  auto found = compiler_.location();
  if (!found) return find_recorded(source, std::move(found).error());
  const Key key = emission::key_of(source, found->identity);
  bool compiled = false;
  MemoPath path{};
  TMA_JIT_ASSIGN(Built built, built_.get(
                                  key, [&] { return make(source, key, found->identity, compiled); }, &path));
  if (path != MemoPath::made) ++counters_.memory_hits;
  if (compiled) {
    Cubin mine = *built.cubin;
    mine.compiled = true;
    built.cubin = std::make_shared<const Cubin>(std::move(mine));
  }
  return built;
}

// A miss waits for another process that compiles the same, then looks again.
Result<Built> Builder::make(const Source& source, const Key& key, const std::string& identity, bool& compiled) {
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
  TMA_JIT_ASSIGN(Built built, compile(source, key, identity));
  compiled = true;
  if (cache_ && publish(built, source, turn) && damaged) ++counters_.healed;
  return built;
}

Result<Built> Builder::fetch(const Key& key) {
  return take(key, cache_->get(key));
}

// not_found: no entry. Any other error: an entry that cannot be used, counted here.
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

std::optional<CrashMemory::Crash> Builder::crash_of(const Source& source) {
  const auto found = compiler_.location();
  return found ? crashes_.find(emission::key_of(source, found->identity)) : std::nullopt;
}

// As lines: what the nearest kernel in the cache has otherwise.
std::string Builder::differences(const Source& source) {
  if (!cache_) return "the cache is off";
  const auto found = explain(source);
  if (!found) return found.error().message;
  if (found->nearest.empty()) {
    return fmt::format("the cache {} has no entry of {}", settings_.cache.root.string(), source.kernel);
  }
  std::string text =
      fmt::format("the nearest entry of the cache {} is {}", settings_.cache.root.string(), found->nearest);
  for (const CacheDifference& difference : found->differences) {
    text += fmt::format("\n{}: {} here, {} there", difference.field, difference.here, difference.there);
  }
  return text;
}

Result<Built> Builder::compile(const Source& source, const Key& key, const std::string& identity) {
  if (const auto crash = crashes_.find(key)) {
    return tl::make_unexpected(Error{
        ErrorCode::crash, crash->reason,
        fmt::format("that was before; it is not tried again for a week unless {} is removed",
                    (crash_folder(settings_.compiler) / (key.hex() + std::string(cache::kCrashSuffix))).string())});
  }
  TMA_JIT_CHECK(misses_.admit(source, key, [&] { return differences(source); }));
  const profile::Range range("compile", source.kernel);
  auto cubin = compiler_.compile(source, key);
  if (!cubin) {
    ++counters_.compile_failures;
    const Error& error = cubin.error();
    // Memory that ran out, or a process that was killed, may fare better in the next program.
    const bool lasting = error.message.find(compile::kCrashed) != std::string::npos ||
                         error.message.find(compile::kHangs) != std::string::npos;
    if (error.code == ErrorCode::crash) crashes_.remember(key, error.message, lasting);
    return tl::make_unexpected(std::move(cubin).error());
  }
  ++counters_.compiles;
  counters_.compile_ms += cubin->compile_ms;
  cubin->key = key;
  cubin->compiled = false;
  log_->info("compiled {} for {} in {:.0f} ms", source.kernel, source.arch, cubin->compile_ms);
  return Built{std::make_shared<const Cubin>(*std::move(cubin)), identity};
}

bool Builder::publish(const Built& built, const Source& source, cache::Turn& turn) {
  const Cubin& cubin = *built.cubin;
  const auto written = cache_->put(cubin.key, {cubin.bytes, metadata_of(cubin, source, built.compiler)}, turn);
  if (written) cache_->record_compiler(built.compiler);
  ++(written ? counters_.disk_writes : counters_.disk_write_failures);
  if (!written) warn_once(written.error().message);
  return written.has_value();
}

// A warmed process without NVRTC: the cache knows which compilers filled it, and each gives one key to try.
Result<Built> Builder::find_recorded(const Source& source, Error no_compiler) {
  const auto identities = cache_ ? cache_->compilers() : std::vector<std::string>();
  for (const std::string& identity : identities) {
    const Key key = emission::key_of(source, identity);
    MemoPath path{};
    auto built = built_.get(
        key, [&] { return fetch(key); }, &path);
    if (built && path != MemoPath::made) ++counters_.memory_hits;
    if (built) return built;
  }
  if (cache_) {
    ++counters_.disk_misses;
    if (!no_compiler.detail.empty() && no_compiler.detail.back() != '\n') no_compiler.detail += '\n';
    no_compiler.detail += fmt::format("the cache {} has no {} for {} by any of the {} compilers recorded there",
                                      settings_.cache.root.string(), source.kernel, source.arch, identities.size());
  }
  return tl::make_unexpected(std::move(no_compiler));
}

}  // namespace tma_jit
