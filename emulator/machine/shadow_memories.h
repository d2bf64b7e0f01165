// What is known of every byte of a block's shared memory, and of global memory during a launch.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/check/shadow.h"

namespace tma_jit::emulator {
class Block;
class Machine;
}  // namespace tma_jit::emulator

namespace tma_jit::emulator::check {

// Of a block's shared memory.
class SharedShadow : public Shadow {
 public:
  explicit SharedShadow(const Block& owner)
      : Shadow({&Clocks::visible, false, true, "fence.proxy.async.shared::cta"}), owner_(owner) {}
  void resize(std::size_t bytes);
  void record(u32 offset, u32 bytes, const Access& access);
  void record(std::span<const matrix::Span> spans, const Access& access);
  // Memory whose content is not data: a fresh mbarrier.
  void forget(u32 offset, u32 bytes);

 private:
  std::string place(u64 address) const override;
  std::string side(const Stamp& stamp, std::string_view what) const override;

  const Block& owner_;
  std::vector<Cell> cells_;
};

// Of global memory during one launch. Pages come with their first access.
class GlobalShadow : public Shadow {
 public:
  explicit GlobalShadow(const Machine& machine)
      : Shadow({&Clocks::visible_global, true, false, "fence.proxy.async.global"}), machine_(machine) {}
  void record(u64 address, u64 bytes, const Access& access);
  // Memory that is no longer what it was: a kernel freed it.
  void forget(u64 address, u64 bytes);

 private:
  static constexpr u32 kPage = 4096;
  static constexpr std::size_t kLately = 256;  // pages, a power of two
  using Page = std::array<Cell, kPage / kRow>;
  Page& page_of(u64 address);
  // f(page, the range's bytes in it, the page's address) for each page that the range touches.
  template <class F> void for_each_page(u64 address, u64 bytes, const F& f);
  std::string place(u64 address) const override;
  std::string side(const Stamp& stamp, std::string_view what) const override;

  const Machine& machine_;
  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  // Those touched lately, by the last bits of their numbers.
  std::array<std::pair<u64, Page*>, kLately> lately_{};
};

}  // namespace tma_jit::emulator::check
