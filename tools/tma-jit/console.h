// The output of a command: reports and results to stdout, notes and errors to stderr, or one object with --json.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "json.h"
#include "outcome.h"

namespace tma_jit::cli {

class Console {
 public:
  bool json = false;
  bool quiet = false;

  // Prints what happened, for people; nothing with --json or --quiet.
  template <class... Args> void report(fmt::format_string<Args...> format, Args&&... args) const {
    if (!json && !quiet) write(fmt::format(format, std::forward<Args>(args)...));
  }
  // Prints the requested text, also with --quiet.
  template <class... Args> void result(fmt::format_string<Args...> format, Args&&... args) const {
    if (!json) write(fmt::format(format, std::forward<Args>(args)...));
  }
  // Prints a remark that is not a fault to stderr.
  template <class... Args> void note(fmt::format_string<Args...> format, Args&&... args) const {
    if (!quiet) write_note(fmt::format(format, std::forward<Args>(args)...));
  }
  // Prints the object of --json; nothing without it.
  void object(const Json& value) const;
  // Prints an error to stderr only, where the object of --json has it as a part.
  void tell(const Error& error) const;
  // Prints an error to stderr, and as the object of --json: for a verb that prints no other.
  void error(const Error& error) const;

 private:
  static void write(std::string_view text);
  static void write_note(std::string_view text);
};

Json to_json(const Error& error);

}  // namespace tma_jit::cli
