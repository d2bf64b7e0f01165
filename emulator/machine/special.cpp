#include "emulator/machine/special.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "emulator/machine/machine.h"

namespace tma_jit::emulator {
namespace {

using Read = u64 (*)(const Warp& warp, int lane);

const Machine& machine_of(const Warp& warp) {
  return warp.block().machine();
}
const LaunchShape& shape_of(const Warp& warp) {
  return machine_of(warp).shape();
}
u32 thread_of(const Warp& warp, int lane) {
  return warp.index() * kLanes + static_cast<u32>(lane);
}
template <int Axis> u64 tid(const Warp& warp, int lane) {
  const Dim3& block = shape_of(warp).block;
  const u32 thread = thread_of(warp, lane);
  if constexpr (Axis == 0) return thread % block[0];
  if constexpr (Axis == 1) return thread / block[0] % block[1];
  return thread / block[0] / block[1];
}
template <int Axis> u64 ntid(const Warp& warp, int) {
  return shape_of(warp).block[Axis];
}
template <int Axis> u64 ctaid(const Warp& warp, int) {
  return warp.block().index()[Axis];
}
template <int Axis> u64 nctaid(const Warp& warp, int) {
  return shape_of(warp).grid[Axis];
}
template <int Axis> u64 clusterid(const Warp& warp, int) {
  return warp.block().cluster().index[Axis];
}
template <int Axis> u64 nclusterid(const Warp& warp, int) {
  return shape_of(warp).grid[Axis] / shape_of(warp).cluster[Axis];
}
template <int Axis> u64 cluster_ctaid(const Warp& warp, int) {
  return warp.block().index()[Axis] % shape_of(warp).cluster[Axis];
}
template <int Axis> u64 cluster_nctaid(const Warp& warp, int) {
  return shape_of(warp).cluster[Axis];
}
u64 time_of(const Warp& warp) {
  return machine_of(warp).instructions();
}

struct Row {
  u8 width;
  bool changes;
  Read read;
};

constexpr std::pair<std::string_view, Row> kRows[] = {
    {"%tid.x", {4, false, tid<0>}},
    {"%tid.y", {4, false, tid<1>}},
    {"%tid.z", {4, false, tid<2>}},
    {"%ntid.x", {4, false, ntid<0>}},
    {"%ntid.y", {4, false, ntid<1>}},
    {"%ntid.z", {4, false, ntid<2>}},
    {"%ctaid.x", {4, false, ctaid<0>}},
    {"%ctaid.y", {4, false, ctaid<1>}},
    {"%ctaid.z", {4, false, ctaid<2>}},
    {"%nctaid.x", {4, false, nctaid<0>}},
    {"%nctaid.y", {4, false, nctaid<1>}},
    {"%nctaid.z", {4, false, nctaid<2>}},
    {"%clusterid.x", {4, false, clusterid<0>}},
    {"%clusterid.y", {4, false, clusterid<1>}},
    {"%clusterid.z", {4, false, clusterid<2>}},
    {"%nclusterid.x", {4, false, nclusterid<0>}},
    {"%nclusterid.y", {4, false, nclusterid<1>}},
    {"%nclusterid.z", {4, false, nclusterid<2>}},
    {"%cluster_ctaid.x", {4, false, cluster_ctaid<0>}},
    {"%cluster_ctaid.y", {4, false, cluster_ctaid<1>}},
    {"%cluster_ctaid.z", {4, false, cluster_ctaid<2>}},
    {"%cluster_nctaid.x", {4, false, cluster_nctaid<0>}},
    {"%cluster_nctaid.y", {4, false, cluster_nctaid<1>}},
    {"%cluster_nctaid.z", {4, false, cluster_nctaid<2>}},
    {"%cluster_ctarank", {4, false, [](const Warp& w, int) -> u64 { return w.block().rank(); }}},
    {"%cluster_nctarank",
     {4, false,
      [](const Warp& w, int) -> u64 {
        const Dim3& c = shape_of(w).cluster;
        return u64{c[0]} * c[1] * c[2];
      }}},
    {"%laneid", {4, false, [](const Warp&, int lane) -> u64 { return static_cast<u64>(lane); }}},
    {"%warpid", {4, false, [](const Warp& w, int) -> u64 { return w.index(); }}},
    {"%nwarpid", {4, false, [](const Warp&, int) -> u64 { return 64; }}},
    {"%smid",
     {4, false,
      [](const Warp& w, int) -> u64 {
        return (w.block().index()[0] + w.block().index()[1] + w.block().index()[2]) %
               static_cast<u64>(machine_of(w).device().sm_count);
      }}},
    {"%nsmid", {4, false, [](const Warp& w, int) -> u64 { return static_cast<u64>(machine_of(w).device().sm_count); }}},
    {"%gridid", {8, false, [](const Warp&, int) -> u64 { return 1; }}},
    {"%lanemask_eq", {4, false, [](const Warp&, int lane) -> u64 { return u64{1} << lane; }}},
    {"%lanemask_lt", {4, false, [](const Warp&, int lane) -> u64 { return (u64{1} << lane) - 1; }}},
    {"%lanemask_le", {4, false, [](const Warp&, int lane) -> u64 { return (u64{2} << lane) - 1; }}},
    {"%lanemask_gt", {4, false, [](const Warp&, int lane) -> u64 { return ~((u64{2} << lane) - 1) & kAllLanes; }}},
    {"%lanemask_ge", {4, false, [](const Warp&, int lane) -> u64 { return ~((u64{1} << lane) - 1) & kAllLanes; }}},
    // The workspace of grid-wide barriers, its upper half first: cooperative_groups/details/driver_abi.h of
    // CUDA 13.0.
    {"%envreg1", {4, false, [](const Warp& w, int) -> u64 { return shape_of(w).grid_workspace >> 32; }}},
    {"%envreg2", {4, false, [](const Warp& w, int) -> u64 { return shape_of(w).grid_workspace & 0xffffffffU; }}},
    {"%dynamic_smem_size", {4, false, [](const Warp& w, int) -> u64 { return shape_of(w).dynamic_shared; }}},
    {"%total_smem_size",
     {4, false, [](const Warp& w, int) -> u64 { return w.block().shared.size() - kReservedShared; }}},
    {"%is_explicit_cluster",
     {0, false, [](const Warp& w, int) -> u64 { return shape_of(w).explicit_cluster ? 1 : 0; }}},
    {"%clock", {4, true, [](const Warp& w, int) -> u64 { return time_of(w); }}},
    {"%clock_hi", {4, true, [](const Warp& w, int) -> u64 { return time_of(w) >> 32; }}},
    {"%clock64", {8, true, [](const Warp& w, int) -> u64 { return time_of(w); }}},
    {"%globaltimer", {8, true, [](const Warp& w, int) -> u64 { return time_of(w); }}},
    {"%globaltimer_lo", {4, true, [](const Warp& w, int) -> u64 { return time_of(w); }}},
    {"%globaltimer_hi", {4, true, [](const Warp& w, int) -> u64 { return time_of(w) >> 32; }}},
};

const std::unordered_map<std::string_view, Row>& table() {
  static const std::unordered_map<std::string_view, Row> rows(std::begin(kRows), std::end(kRows));
  return rows;
}

}  // namespace

SpecialRegister special_register(std::string_view name) {
  const auto found = table().find(name);
  return found != table().end() ? SpecialRegister{found->second.width, found->second.changes} : SpecialRegister{};
}

u64 special_value(std::string_view name, const Warp& warp, int lane) {
  return table().at(name).read(warp, lane);
}

}  // namespace tma_jit::emulator
