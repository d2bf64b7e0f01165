// What tells entries apart, small enough that tens of thousands can be compared in the time of one compile: of every
// part of a key, a hash of its name and one of its value. Good for finding an entry that comes near; what differs is
// then read in that entry itself, so that nothing depends on two hashes being different.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

namespace tma_jit::cache {

struct Mark {
  std::uint32_t name = 0, value = 0;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

struct Marks {
  std::uint64_t kernel = 0;  // of what has no parts to compare: 0
  std::vector<Mark> parts;   // ascending

  static Marks of(std::string_view kernel);
  void add(std::string_view name, std::string_view value);
};

// Parts of one that the other has not, or has with another value.
unsigned differences(const Marks& a, const Marks& b);

inline constexpr std::size_t kMarksMax = 4096;

struct IndexRecord {
  Key key;
  Marks marks;
};

// The records of an index file, which cache/README.md defines. Bytes that are no sound record (the end of one that is
// being written, rot) are passed over, up to the next that is.
void append_record(std::vector<std::byte>& out, const IndexRecord& record);
using RecordVisitor = std::function<void(const IndexRecord& record, std::span<const std::byte> bytes)>;
void read_records(std::span<const std::byte> bytes, const RecordVisitor& visit);

}  // namespace tma_jit::cache
