// Marks make tens of thousands of entries comparable in the time of one compile: for every part of a key, a hash of its
// name and one of its value. They serve to find a similar entry; the differences are then read from that entry itself,
// so that no result depends on hashes being distinct.
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
  std::uint64_t kernel = 0;  // 0 if there are no parts to compare
  std::vector<Mark> parts;   // ascending

  static Marks of(std::string_view kernel);
  void add(std::string_view name, std::string_view value);
};

// Returns the number of parts that only one of the two has or that differ in value.
unsigned differences(const Marks& a, const Marks& b);

inline constexpr std::size_t kMarksMax = 4096;

struct IndexRecord {
  Key key;
  Marks marks;
};

// Reads and writes the records of an index file (format in cache/README.md). Bytes that are not a sound record, such as
// the end of an incomplete write, are skipped up to the next sound record.
void append_record(std::vector<std::byte>& out, const IndexRecord& record);
using RecordVisitor = std::function<void(const IndexRecord& record, std::span<const std::byte> bytes)>;
void read_records(std::span<const std::byte> bytes, const RecordVisitor& visit);

}  // namespace tma_jit::cache
