#include "engine_build.h"

#include "base/failure.h"
#include "source/key.h"

namespace tma_jit {

Builder::Builder(Settings settings, Logger log, Counters& counters)
    : settings_(std::move(settings)), log_(std::move(log)), counters_(counters) {}

Result<compile::Location> Builder::location() {
  const std::lock_guard lock(mutex_);
  if (!location_) {
    TMA_JIT_ASSIGN(location_, compile::locate(settings_.places));
    log_->debug("NVRTC is {}", location_->path.string());
  }
  return *location_;
}

Result<std::shared_ptr<compile::Compiler>> Builder::compiler() {
  TMA_JIT_ASSIGN(const compile::Location found, location());
  const std::lock_guard lock(mutex_);
  if (compiler_ == nullptr) {
    TMA_JIT_ASSIGN(compiler_, compile::Compiler::open(found));
  }
  return compiler_;
}

const cache::Store* Builder::store() {
  if (settings_.cache_dir.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!store_tried_) {
    store_tried_ = true;
    auto opened = cache::Store::open(settings_.cache_dir);
    if (!opened) warn_once(opened.error().message);
    if (opened) store_ = *std::move(opened);
  }
  return store_ ? &*store_ : nullptr;
}

Result<void> Builder::cache_writable() {
  if (settings_.cache_dir.empty()) return failure(ErrorCode::invalid_argument, "the cache is off");
  TMA_JIT_ASSIGN(const cache::Store opened, cache::Store::open(settings_.cache_dir));
  if (opened.writable()) return {};
  return failure(ErrorCode::io, "{} can be read but not written", settings_.cache_dir.string());
}

void Builder::warn_once(const std::string& what) {
  const bool again = warned_.exchange(true);
  if (again) return log_->debug("cache: {}", what);
  log_->warn("cache: {}; going on without it (said once; later faults are counted)", what);
}

Result<Key> Builder::key(const Source& source) {
  auto found = location();
  if (found) return emission::key_of(source, found->identity);
  TMA_JIT_ASSIGN(const Built built, find_recorded(source, std::move(found).error()));
  return built.cubin->key;
}

Result<std::string> Builder::ptx(const Source& source) {
  TMA_JIT_ASSIGN(const auto opened, compiler());
  return opened->ptx(source);
}

// The caller whose compile it was is told so; whoever finds the cubin later, or waited for it, is told it was there.
Result<Built> Builder::build(const Source& source) {
  auto found = location();
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

Result<Built> Builder::make(const Source& source, const Key& key, const std::string& identity, bool& compiled) {
  if (store() != nullptr) {
    auto kept = fetch(key);
    if (kept) return kept;
    if (kept.error().code == ErrorCode::not_found) ++counters_.disk_misses;
  }
  TMA_JIT_ASSIGN(Built built, compile(source, key, identity));
  compiled = true;
  publish(built, source.kernel);
  return built;
}

// not_found: no entry. Any other error: an entry that cannot be used, counted here.
Result<Built> Builder::fetch(const Key& key) {
  cache::Lookup lookup = store()->get(key);
  if (lookup.reason == cache::MissReason::absent) return failure(ErrorCode::not_found, "{} is not there", key.hex());
  Result<Built> built = lookup.entry ? built_from(std::move(*lookup.entry), key)
                                     : Result<Built>(failure(ErrorCode::io, "{}", lookup.detail));
  ++(built ? counters_.disk_hits : counters_.disk_faults);
  if (!built) warn_once(built.error().message);
  return built;
}

Result<Built> Builder::compile(const Source& source, const Key& key, const std::string& identity) {
  TMA_JIT_ASSIGN(const auto opened, compiler());
  auto cubin = opened->compile(source);
  if (!cubin) {
    ++counters_.compile_failures;
    return tl::make_unexpected(std::move(cubin).error());
  }
  ++counters_.compiles;
  counters_.compile_ms += cubin->compile_ms;
  cubin->key = key;
  cubin->compiled = false;
  log_->info("compiled {} for {} in {:.0f} ms", source.kernel, source.arch, cubin->compile_ms);
  return Built{std::make_shared<const Cubin>(*std::move(cubin)), identity};
}

void Builder::publish(const Built& built, const std::string& kernel) {
  const cache::Store* folder = store();
  if (folder == nullptr) return;
  const Cubin& cubin = *built.cubin;
  auto written = folder->put(cubin.key, {cubin.bytes, metadata_of(cubin, kernel, built.compiler)});
  if (written) written = folder->record_compiler(built.compiler);
  ++(written ? counters_.disk_writes : counters_.disk_write_failures);
  if (!written) warn_once(written.error().message);
}

// A warmed process without NVRTC: the cache knows which compilers filled it, and each gives one key to try.
Result<Built> Builder::find_recorded(const Source& source, Error no_compiler) {
  const cache::Store* folder = store();
  const auto identities = folder != nullptr ? folder->compilers() : std::vector<std::string>();
  for (const std::string& identity : identities) {
    const Key key = emission::key_of(source, identity);
    MemoPath path{};
    auto built = built_.get(
        key, [&] { return fetch(key); }, &path);
    if (built && path != MemoPath::made) ++counters_.memory_hits;
    if (built) return built;
  }
  if (folder != nullptr) {
    ++counters_.disk_misses;
    if (!no_compiler.detail.empty() && no_compiler.detail.back() != '\n') no_compiler.detail += '\n';
    no_compiler.detail += fmt::format("the cache {} has no {} for {} by any of the {} compilers recorded there",
                                      folder->root().string(), source.kernel, source.arch, identities.size());
  }
  return tl::make_unexpected(std::move(no_compiler));
}

}  // namespace tma_jit
