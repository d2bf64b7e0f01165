// Every template an engine knows: embedded ones, those in search folders, those added by the program. Later sources
// shadow earlier ones of the same file stem and kernel: embedded < folders (the first folder wins) < added (the last
// wins). A search folder holds kernels as *.cu or kernels/*.cu, probes as probes/*.cu and headers below device/.
// Thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

#include "base/embedded_file.h"
#include "template/template.h"

namespace tma_jit {

// The files of templates/, embedded by src/CMakeLists.txt.
extern const EmbeddedFile kEmbeddedTemplates[];
extern const unsigned long kEmbeddedTemplatesCount;

}  // namespace tma_jit

namespace tma_jit::templates {

using TemplatePointer = std::shared_ptr<const Template>;

// The files compiled into the library.
std::span<const EmbeddedFile> embedded_templates();

class TemplateSet {
 public:
  explicit TemplateSet(std::vector<std::filesystem::path> folders = {},
                       std::span<const EmbeddedFile> embedded = embedded_templates());

  // Parse at once; `name` is what errors call the text, with or without ".cu". The folder of an added file serves
  // headers like a search folder, after those. An added "device/NAME.cuh" is a header, and comes before all others.
  [[nodiscard]] Result<void> add(std::string name, std::string text);
  [[nodiscard]] Result<void> add_file(const std::filesystem::path& file);

  // The templates that declare `kernel`, by file stem; only those are parsed. Folders are read anew each time. Fails
  // with not_found and a suggestion, with the first parse error among them, or with io when a search folder or a
  // template in one cannot be read.
  [[nodiscard]] Result<std::vector<TemplatePointer>> find(std::string_view kernel);

  // Everything that is not shadowed, by kernel and file stem; what cannot be read or parsed is an error in its place.
  std::vector<Result<TemplatePointer>> all();

  // The text of a device header by the name `#include` gives it, e.g. "device/ptx/tma.cuh": from those added, the
  // search folders, the folders of added files, then the embedded ones.
  [[nodiscard]] Result<std::string> header(std::string_view name) const;

 private:
  struct Text;  // a template not yet parsed
  struct Listing;
  Listing listing() const;
  [[nodiscard]] Result<TemplatePointer> parsed(const Text& text);
  std::vector<std::filesystem::path> header_folders() const;
  std::optional<std::string> added_header(std::string_view name) const;

  const std::vector<std::filesystem::path> folders_;
  const std::span<const EmbeddedFile> embedded_;
  mutable std::mutex mutex_;            // guards what follows
  std::vector<TemplatePointer> added_;  // the latest first
  std::vector<std::filesystem::path> added_folders_;
  std::map<std::string, std::string, std::less<>> added_headers_;
  std::map<std::string, TemplatePointer> parsed_;  // by file; used while the file's text stays the same
};

// The kernel a text declares, found without parsing the rest; "" when there is none.
std::string_view declared_kernel(std::string_view text);

}  // namespace tma_jit::templates
