// The fields of Options but `device`, each listed once by its name in other languages: the C API and the Python package
// are generated from this list.
#pragma once

#include <cstdint>

#include <tma_jit/options.h>

namespace tma_jit {

// A flag that means the opposite of the field that it gives.
struct Opposite {
  std::int32_t flag;
};

// Calls `visit` with each field's name, its place in `options` and, if `given` is tma_jit_options, what that has for
// it: a value, the paths and the count of a list, or a function and what it is called with.
template <class Visit, class... Given> void each_option(Visit&& visit, Options& options, const Given&... given) {
  CacheOptions& cache = options.cache;
  RemoteOptions& remote = cache.remote;
  CompilerOptions& compiler = options.compiler;
  TuningOptions& tuning = options.tuning;
  visit("arch", options.arch, given.arch...);
  visit("limits", options.limits, given.limits...);
  visit("cache_dir", options.cache_dir, given.cache_dir...);
  visit("use_cache", options.use_cache, Opposite{given.no_cache}...);
  visit("cache_bytes", cache.bytes, given.cache_bytes...);
  visit("cache_entries", cache.entries, given.cache_entries...);
  visit("cache_read_only", cache.read_only, given.cache_read_only..., given.cache_read_only_count...);
  visit("cache_pack_keys", cache.pack_keys, given.cache_pack_keys..., given.cache_pack_key_count...);
  visit("cache_node_dir", cache.node_dir, given.cache_node_dir...);
  visit("cache_wait_s", cache.wait_s, given.cache_wait_s...);
  visit("cache_shared", cache.shared, given.cache_shared...);
  visit("template_dirs", options.template_dirs, given.template_dirs..., given.template_dir_count...);
  visit("nvrtc", options.nvrtc, given.nvrtc...);
  visit("nvrtc_dirs", options.nvrtc_dirs, given.nvrtc_dirs..., given.nvrtc_dir_count...);
  visit("disable_tma", options.disable_tma, given.disable_tma...);
  visit("compiler_place", compiler.place, given.compiler_place...);
  visit("compiler_worker", compiler.worker, given.compiler_worker...);
  visit("compiler_workers", compiler.workers, given.compiler_workers...);
  visit("compiles_at_once", compiler.compiles_at_once, given.compiles_at_once...);
  visit("compile_time_limit_s", compiler.time_limit, given.compile_time_limit_s...);
  visit("worker_memory_limit", compiler.memory_limit, given.worker_memory_limit...);
  visit("remote", remote.url, given.remote...);
  visit("remote_role", remote.role, given.remote_role...);
  visit("remote_wait_s", remote.wait_s, given.remote_wait_s...);
  visit("remote_flush_s", remote.flush_s, given.remote_flush_s...);
  visit("remote_user", remote.user, given.remote_user...);
  visit("remote_password", remote.password, given.remote_password...);
  visit("remote_token", remote.token, given.remote_token...);
  visit("remote_ca", remote.ca, given.remote_ca...);
  visit("remote_certificate", remote.certificate, given.remote_certificate...);
  visit("remote_certificate_key", remote.certificate_key, given.remote_certificate_key...);
  visit("remote_sign_key", remote.sign_key, given.remote_sign_key...);
  visit("remote_library", remote.library, given.remote_library...);
  visit("record_misses", options.record_misses, given.record_misses...);
  visit("record_requests", options.record_requests, given.record_requests...);
  visit("tuning_policy", tuning.policy, given.tuning_policy...);
  visit("tuning_records", tuning.records, given.tuning_records..., given.tuning_record_count...);
  visit("tuning_budget_s", tuning.budget_s, given.tuning_budget_s...);
  visit("tuning_device_share", tuning.device_share, given.tuning_device_share...);
  visit("tuning_memory_bytes", tuning.memory_bytes, given.tuning_memory_bytes...);
  visit("may_measure", tuning.may_measure, given.may_measure..., given.may_measure_user...);
  visit("seal", options.seal, given.seal...);
  visit("on_sealed_miss", options.on_sealed_miss, given.on_sealed_miss..., given.on_sealed_miss_user...);
  visit("line_info", options.line_info, given.line_info...);
  visit("log_level", options.log_level, given.log_level...);
  visit("log", options.log, given.log..., given.log_user...);
}

}  // namespace tma_jit
