// What the build found out about the headers that the library ships, so that a kernel's key is computed without their
// texts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "source/headers.h"

namespace tma_jit::source {

// What a key has of a header.
struct HeaderDigest {
  std::string name;
  Digest digest{};              // of the text
  bool names_its_file = false;  // as names_its_file(text)
};

// The headers by name. Made by tools/template-digests; empty in a library that was built for another machine than the
// one that built it.
struct ShippedHeaders {
  struct Entry {
    std::uint32_t name;  // where it begins in `names`
    Digest digest;
    bool names_its_file;
    bool pastes, fragment;     // as Scan has them
    std::uint32_t begin, end;  // of what it includes, in `includes`
  };
  const char* names;  // each with a terminator
  std::span<const Entry> entries;
  std::span<const std::uint16_t> includes;  // by their numbers in `entries`
};

extern const ShippedHeaders kShippedHeaders;

// Returns what reachable_headers would find among the shipped headers. nullopt where that takes their texts: the
// table lacks a header, or reachable_headers would refuse something.
[[nodiscard]] std::optional<std::vector<HeaderDigest>> shipped_reach(const std::vector<Root>& roots);

}  // namespace tma_jit::source
