// The files of the page that `report` writes, compiled into the command: those of the folder report, and where CMake
// found the plotting library, chart.js with its licence.
#pragma once

#include <optional>
#include <string_view>

namespace tma_jit::cli {

struct EmbeddedFile {
  const char* name;
  const char* text;  // not necessarily terminated
  unsigned long size;
};

// Names are page.html, page.css, page.js, chart.js and licence.txt.
std::optional<std::string_view> report_file(std::string_view name);

}  // namespace tma_jit::cli
