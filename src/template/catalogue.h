// All templates that an engine knows: embedded ones, those in search folders, those added by the program. Later sources
// shadow earlier ones with the same file stem and kernel: embedded < folders (the first folder takes precedence) <
// added (the last takes precedence). A search folder holds kernels as *.cu or kernels/*.cu, probes as probes/*.cu and
// headers below device/. Thread-safe.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

#include "template/embedded_templates.h"
#include "template/template.h"

namespace tma_jit::templates {

using TemplatePointer = std::shared_ptr<const Template>;
class Bare;

// Whether a template that lists the architecture is of use.
using ArchFilter = std::function<bool(std::string_view listed)>;

class TemplateSet {
 public:
  explicit TemplateSet(std::vector<std::filesystem::path> folders = {},
                       std::span<const EmbeddedFile> embedded = embedded_templates());
  ~TemplateSet();

  // Add and parse a template. `name` is the text's name in errors, with or without ".cu". The folder of an added file
  // provides headers like a search folder, after those. An added "device/NAME.cuh" is a header and takes precedence
  // over all others; a header that a template uses is added before it.
  [[nodiscard]] Result<void> add(std::string name, std::string text);
  [[nodiscard]] Result<void> add_file(const std::filesystem::path& file);

  // Returns the templates that declare `kernel`, by file stem; parses only those. With a filter, embedded ones of which
  // it takes no architecture may be left out, unless that leaves none. Folders are read again each time.
  // Fails with not_found and a suggestion, with the first parse error among them, or with io if a search folder or a
  // template in one cannot be read.
  [[nodiscard]] Result<std::vector<TemplatePointer>> find(std::string_view kernel, const ArchFilter& of_use = {});
  // Returns the one with that file stem, for a plan with all params pinned: it may lack its presets. Parses only that
  // one unless there are search folders or added templates. Null if the kernel has no such file.
  [[nodiscard]] Result<TemplatePointer> find_pinned(std::string_view kernel, std::string_view stem);

  // Returns Template::file of the embedded one with that stem, without parsing it; "" if the kernel has none, or there
  // are search folders or added templates.
  [[nodiscard]] std::string embedded_name(std::string_view kernel, std::string_view stem);

  // Returns the declarations of the embedded one with that stem, as parse_declarations has them. Null where
  // embedded_name returns "", and if they cannot be read alone.
  [[nodiscard]] TemplatePointer embedded_declarations(std::string_view kernel, std::string_view stem);

  // Returns all templates that are not shadowed, or those that declare `kernel`, by kernel and file stem; a file that
  // cannot be read or parsed is an error in its place.
  [[nodiscard]] std::vector<Result<TemplatePointer>> all(std::optional<std::string_view> kernel = std::nullopt);

  // Returns the text of a device header by its name in an #include, e.g. "device/ptx/tma.cuh", from: added headers, the
  // search folders, the folders of added files, the embedded files.
  [[nodiscard]] Result<std::string> header(std::string_view name) const;

  // Returns whether headers are the embedded ones only, whose texts do not change.
  bool headers_fixed() const;

 private:
  struct Text;  // a template that is not parsed yet
  struct Embedded;
  struct File;
  struct Declared;
  struct Listing;
  Listing listing();
  static std::shared_ptr<Embedded> texts_of(std::span<const EmbeddedFile> files);
  void add(Template parsed);
  // The mutex is locked while these run.
  [[nodiscard]] Result<std::vector<TemplatePointer>> locked_find(std::string_view kernel);
  Embedded& embedded_texts();
  std::vector<File>& embedded_files(std::string_view kernel);
  // Null where embedded_name returns "".
  Declared* embedded_file(std::string_view kernel, std::string_view stem);
  [[nodiscard]] Result<TemplatePointer> parsed(File& file);
  bool embedded_only() const { return folders_.empty() && added_.empty() && added_headers_.empty(); }
  [[nodiscard]] Result<TemplatePointer> bare(File& file);
  // `bare`: what is known of an embedded one without its presets; may be null.
  [[nodiscard]] Result<TemplatePointer> parsed(const Text& text, const Bare* bare = nullptr);
  [[nodiscard]] Result<std::string> locked_header(std::string_view name) const;
  // Returns whether the files that the template uses still have the texts of which it was made.
  bool uses_current(const Template& kernel) const;
  std::vector<std::filesystem::path> header_folders() const;
  std::optional<std::string> added_header(std::string_view name) const;

  const std::vector<std::filesystem::path> folders_;
  const std::span<const EmbeddedFile> embedded_;
  mutable std::mutex mutex_;                        // guards the members below
  std::shared_ptr<Embedded> embedded_templates_;    // null: not listed yet
  std::vector<std::shared_ptr<const Text>> added_;  // the latest first
  std::vector<std::filesystem::path> added_folders_;
  std::map<std::string, std::string, std::less<>> added_headers_;
  std::map<std::string, TemplatePointer> parsed_;  // of folders, by file; valid while the file's text is unchanged
  std::map<std::string, std::vector<File>, std::less<>> embedded_files_;  // by kernel; asked only if embedded_only()
  std::vector<Declared> declared_;                                        // likewise
};

}  // namespace tma_jit::templates
