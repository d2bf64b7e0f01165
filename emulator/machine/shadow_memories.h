// The shadows of a block's shared memory, and of global memory during a launch.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/check/shadow.h"
#include "emulator/machine/earlier_launches.h"

namespace tma_jit::emulator {

class Block;
class Machine;

// The shadow of a block's shared memory.
class SharedShadow : public check::Shadow {
 public:
  explicit SharedShadow(const Block& owner)
      : check::Shadow({&check::Clocks::visible, false, true, "fence.proxy.async.shared::cta"}), owner_(owner) {}
  void resize(std::size_t bytes);
  void record(u32 offset, u32 bytes, const check::Access& access);
  void record(std::span<const ByteRange> ranges, const check::Access& access);
  // Resets memory whose content is not data, e.g. a new mbarrier.
  void forget(u32 offset, u32 bytes);

 private:
  std::string location(u64 address) const override;
  std::string side(const check::Stamp& stamp, std::string_view what) const override;

  const Block& owner_;
  std::vector<Cell> cells_;
};

// The shadow of global memory during one launch. Pages are allocated at their first access.
class GlobalShadow : public check::Shadow {
 public:
  explicit GlobalShadow(const Machine& machine)
      : check::Shadow({&check::Clocks::visible_global, true, false, "fence.proxy.async.global"}), machine_(machine) {}
  void record(u64 address, u64 bytes, const check::Access& access);
  // Checks an access by a launch that began while earlier ones may still run. Throws Fault{race}.
  void check_waited(const EarlierLaunches& earlier, u64 address, u64 bytes, const check::Access& access) const;
  // Adds all accesses of the launch.
  void describe_to(LaunchRecord& record) const;
  // Resets memory that a kernel has freed.
  void forget(u64 address, u64 bytes);

 private:
  static constexpr u32 kPage = 4096;
  static constexpr std::size_t kRecentPages = 256;  // pages, a power of two
  using Page = std::array<Cell, kPage / kRow>;
  Page& page_of(u64 address);
  // Calls f(page, the part of the range within it, the page's address) for each page that the range touches.
  template <class F> void for_each_page(u64 address, u64 bytes, const F& f);
  std::string location(u64 address) const override;
  std::string side(const check::Stamp& stamp, std::string_view what) const override;

  const Machine& machine_;
  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  // Recently used pages, indexed by the low bits of their numbers.
  std::array<std::pair<u64, Page*>, kRecentPages> recent_pages_{};
};

}  // namespace tma_jit::emulator
