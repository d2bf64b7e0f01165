// The fields of value structs, each listed once: JSON, the C API, files and the emulator's interface are generated from
// these lists. Several structs whose fields have the same names can be visited in parallel:
//
//   each_device_field([](const char* name, auto& to, const auto& from) { … }, to, from);
#pragma once

#include <cstddef>
#include <span>

namespace tma_jit {

// For DeviceInfo and its forms in C: the numbers in a file of device facts.
template <class Visit, class... Devices> void each_device_number(Visit&& visit, Devices&... devices) {
  visit("compute_capability", devices.compute_capability...);
  visit("sm_count", devices.sm_count...);
  visit("smem_per_block", devices.smem_per_block...);
  visit("smem_per_sm", devices.smem_per_sm...);
  visit("registers_per_sm", devices.registers_per_sm...);
  visit("threads_per_block", devices.threads_per_block...);
  visit("threads_per_sm", devices.threads_per_sm...);
  visit("cluster_max", devices.cluster_max...);
  visit("multicast", devices.multicast...);
  visit("l2_bytes", devices.l2_bytes...);
  visit("memory_bytes", devices.memory_bytes...);
  visit("clock_mhz", devices.clock_mhz...);
  visit("memory_gb_per_s", devices.memory_gb_per_s...);
  visit("bf16_tflops", devices.bf16_tflops...);
  visit("f32_tflops", devices.f32_tflops...);
}

template <class Visit, class... Devices> void each_device_field(Visit&& visit, Devices&... devices) {
  visit("name", devices.name...);
  visit("arch", devices.arch...);
  each_device_number(visit, devices...);
}

// For Stats and its form in C.
template <class Visit, class... Stats> void each_counter(Visit&& visit, Stats&... stats) {
  visit("plans", stats.plans...);
  visit("compiles", stats.compiles...);
  visit("compile_failures", stats.compile_failures...);
  visit("memory_hits", stats.memory_hits...);
  visit("disk_hits", stats.disk_hits...);
  visit("disk_misses", stats.disk_misses...);
  visit("disk_faults", stats.disk_faults...);
  visit("disk_writes", stats.disk_writes...);
  visit("disk_write_failures", stats.disk_write_failures...);
  visit("loads", stats.loads...);
  visit("workers_started", stats.workers_started...);
  visit("workers_lost", stats.workers_lost...);
  visit("crashes_avoided", stats.crashes_avoided...);
  visit("sealed_misses", stats.sealed_misses...);
  visit("misses_recorded", stats.misses_recorded...);
  visit("problems_tuned", stats.problems_tuned...);
  visit("launches_swapped", stats.launches_swapped...);
  visit("tuning_failures", stats.tuning_failures...);
  visit("tunings_undecided", stats.tunings_undecided...);
  visit("compile_ms", stats.compile_ms...);
}

// For CacheStats, and for the form of Stats in C, which contains these fields.
template <class Visit, class... Stats> void each_cache_counter(Visit&& visit, Stats&... stats) {
  visit("unreadable", stats.unreadable...);
  visit("untrusted", stats.untrusted...);
  visit("other_format", stats.other_format...);
  visit("corrupt", stats.corrupt...);
  visit("wrong_key", stats.wrong_key...);
  visit("healed", stats.healed...);
  visit("node_hits", stats.node_hits...);
  visit("read_only_hits", stats.read_only_hits...);
  visit("waits", stats.waits...);
  visit("wait_timeouts", stats.wait_timeouts...);
  visit("lockless", stats.lockless...);
  visit("evicted", stats.evicted...);
  visit("remote_hits", stats.remote_hits...);
  visit("remote_misses", stats.remote_misses...);
  visit("remote_errors", stats.remote_errors...);
  visit("remote_refused", stats.remote_refused...);
  visit("remote_skipped", stats.remote_skipped...);
  visit("remote_uploads", stats.remote_uploads...);
  visit("remote_upload_failures", stats.remote_upload_failures...);
  visit("remote_off", stats.remote_off...);
}

// Returns the first `count` values of an array, which are those that a tensor map uses.
template <class Array> auto used(Array& values, int count) {
  return std::span(values).first(static_cast<std::size_t>(count));
}

// For TensorMapSpec, whose lists are visited as spans of what its mode and rank use. A reader sets the rank first.
template <class Visit, class... Maps> void each_map_field(Visit&& visit, Maps&... maps) {
  visit("type", maps.as...);
  visit("mode", maps.mode...);
  visit("box", used(maps.box, maps.box_rank())...);
  visit("dims", used(maps.dims, maps.rank)...);
  visit("strides_bytes", used(maps.strides, maps.rank - 1)...);
  visit("element_strides", used(maps.element_strides, maps.rank)...);
  if (((maps.corners() > 0) && ...)) {
    visit("lower_corner", used(maps.lower, maps.corners())...);
    visit("upper_corner", used(maps.upper, maps.corners())...);
  }
  visit("swizzle", maps.swizzle...);
  visit("interleave", maps.interleave...);
  visit("l2_promotion", maps.l2_promotion...);
  visit("fill", maps.fill...);
}

}  // namespace tma_jit
