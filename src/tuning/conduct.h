// How tuning shares the device with an application's work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <tma_jit/device.h>
#include <tma_jit/tuning.h>

#include "tuning/elimination.h"
#include "tuning/record_book.h"

namespace tma_jit::tuning {

// How long a GPU pauses until its clock is as after a long pause.
inline constexpr std::chrono::milliseconds kRest{20};

// The default is for a device that does nothing else.
struct Conduct {
  // Returns the record of a book that plans of the request can follow (engine/records.h).
  std::function<std::optional<Advice>(const Request&, const RecordBook&)> known{};
  // Lets plans follow records that were known, by their lines.
  std::function<void(std::vector<SharedLine> lines)> follow{};
  // Returns the digest by which records of the request identify a template, by its file's stem; "" if it has none.
  std::function<std::string(const Request&, std::string_view stem)> digest{};
  // Makes the folder of the engine's own file of records, which is that of the cache.
  std::function<Result<void>()> make_folder{};
  // Returns the version of the compiler, which it opens, and of the driver; "" if there is none.
  std::function<std::string()> compiler{}, driver{};
  std::string conditions{};  // of the engine (tuning/conditions.h)
  // Makes one more worker of the compiler ready to compile, if there may be one.
  std::function<void()> ready_worker{};
  // Called before the first measurement; an error ends the tuning of all requests.
  std::function<Result<void>()> begin{};
  const SideStream* side = nullptr;                 // the stream of all its work; null: it makes one
  std::chrono::milliseconds rest{};                 // for which the device pauses before a part of the final's launches
  bool replay = false;                              // launches are replayed from graphs
  std::function<Result<void>(double us)> beside{};  // TuneOptions::beside
  std::size_t most_places = Demands().most_places;  // of the final; each is a few rounds
  bool disturbed = false;                           // other work is on the device meanwhile, and makes times vary
  bool must_be_sure = false;  // a contest that ends while something may still be faster, and nothing clearly is, fails
                              // with ErrorCode::cancelled
  std::size_t compile_threads = 0;                                         // 0: as many as there are processors
  std::uint64_t memory_bytes = std::numeric_limits<std::uint64_t>::max();  // a problem that needs more is refused
  std::optional<double> patience_s{};  // for another process that tunes the request; unset: as TuneOptions has it
  std::function<bool()> stopped{};     // polled while another process tunes with the same file; true ends the wait
  std::function<bool()> may_go_on{};  // called before each use of the device, may wait; returning false ends the tuning
                                      // with ErrorCode::cancelled
  std::function<void()> paused{};     // called after each use of the device
  std::function<bool()> spent{};      // whether the request has used enough of the device: what is known then decides
};

}  // namespace tma_jit::tuning
