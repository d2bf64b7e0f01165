// Files with one request per line, as `warm` and `tune` take them.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/warm_list.h>

#include "outcome.h"

namespace tma_jit::cli {

// A line of a list, and its place.
struct ListEntry {
  WarmLine line;
  std::string place;  // "warm.jsonl:12", or the kernel's name on the command line
};

// The same error, whose message begins with the place, which may be empty.
Error placed_at(const std::string& place, Error error);

// A line of a file that says something: neither empty nor a comment.
struct ListedLine {
  int number = 0;    // from 1 on
  std::string text;  // without the blanks around it
};
// Reads a file of lines, which may have a byte order mark and end in CRLF.
Outcome<std::vector<ListedLine>> listed_lines(const std::string& path);

// Appends the lines of a file. Fails at the first malformed one.
Outcome<void> read_list(const std::string& path, std::vector<ListEntry>& entries);

}  // namespace tma_jit::cli
