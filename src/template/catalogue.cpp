#include "template/catalogue.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/memo.h"
#include "base/text.h"
#include "core/failure.h"
#include "template/bare.h"
#include "template/template_folder.h"

namespace tma_jit::templates {

namespace fs = std::filesystem;

// A text is embedded, already parsed, or owned.
struct TemplateSet::Text {
  std::string file;
  std::string owned;
  const EmbeddedFile* embedded;  // null: it is not
  TemplatePointer added;         // already parsed
  std::string_view kernel;       // as declared, within the text or the embedded file; empty if there is none

  std::string_view text() const {
    if (added != nullptr) return added->text();
    return embedded != nullptr ? embedded->text() : std::string_view(owned);
  }
};

// The embedded templates, each parsed at its first use.
struct TemplateSet::Embedded {
  std::vector<Text> texts;
  Memo<const Text*, TemplatePointer> parsed;
  Memo<const Text*, Bare> bare;
};

// An embedded file of a kernel.
struct TemplateSet::File {
  std::string stem;
  const Text* text;
  std::vector<std::string> archs{};  // as declared; empty: not read yet
  TemplatePointer parsed{};          // null: not yet
  std::optional<Bare> bare{};        // where it was asked for before `parsed`
};

// An embedded file that was found by its stem, without looking at the others.
struct TemplateSet::Declared {
  std::string kernel, stem, name;  // `name` as Template::file
  const EmbeddedFile* file;
  bool read = false;  // whether its declarations were
  TemplatePointer declarations{};
};

// A template file that could not be read, whose kernel is therefore unknown.
struct Unreadable {
  std::string stem;
  Error error;
};

// All templates, those that shadow others first; and the files that could not be read.
struct TemplateSet::Listing {
  std::vector<const Text*> texts;
  std::vector<std::unique_ptr<const Text>> read;  // those of folders
  std::vector<Error> folders;
  std::vector<Unreadable> files;
};

namespace {

// Returns the error for an unknown kernel. A probe may be suggested, but is not listed, because there are many.
Error no_kernel(std::string_view kernel, const std::set<std::string>& kernels, const std::set<std::string>& probes) {
  const std::vector<std::string> names(kernels.begin(), kernels.end());
  std::vector<std::string> all = names;
  all.insert(all.end(), probes.begin(), probes.end());
  Error error;
  error.code = ErrorCode::not_found;
  error.message = fmt::format("no kernel is named \"{}\"", kernel);
  error.reason = ErrorReason::unknown_name;
  error.suggestion = nearest_name(kernel, all);
  error.detail = names.empty() ? "no template was found" : fmt::format("known kernels: {}", joined(names));
  return error;
}

}  // namespace

std::shared_ptr<TemplateSet::Embedded> TemplateSet::texts_of(std::span<const EmbeddedFile> files) {
  const auto list = [&] {
    auto found = std::make_shared<Embedded>();
    found->texts.reserve(files.size());
    for (const EmbeddedFile& file : files) {
      if (!is_template(file)) continue;
      found->texts.push_back({template_name(file), {}, &file, {}, declared_kernel(file)});
    }
    return found;
  };
  if (files.data() != embedded_templates().data()) return list();
  static const auto library = list();  // every engine's
  return library;
}

TemplateSet::Embedded& TemplateSet::embedded_texts() {
  if (embedded_templates_ == nullptr) embedded_templates_ = texts_of(embedded_);
  return *embedded_templates_;
}

TemplateSet::TemplateSet(std::vector<fs::path> folders, std::span<const EmbeddedFile> embedded)
    : folders_(std::move(folders)), embedded_(embedded) {}

TemplateSet::~TemplateSet() = default;

Result<void> TemplateSet::add(std::string name, std::string text) {
  if (name.empty()) return failure(ErrorCode::invalid_argument, "a template needs a name");
  if (name.starts_with("device/") && name.ends_with(".cuh")) {
    const std::lock_guard lock(mutex_);
    added_headers_.insert_or_assign(std::move(name), std::move(text));
    return {};
  }
  TMA_JIT_ASSIGN(Template parsed,
                 parse(std::move(name), std::move(text), [this](std::string_view used) { return header(used); }));
  add(std::move(parsed));
  return {};
}

void TemplateSet::add(Template parsed) {
  const auto added = std::make_shared<const Template>(std::move(parsed));
  const std::lock_guard lock(mutex_);
  std::erase_if(added_, [&](const auto& other) {
    return other->kernel == added->kernel && other->added->stem() == added->stem();
  });
  added_.insert(added_.begin(), std::make_shared<const Text>(Text{added->file(), {}, {}, added, added->kernel}));
}

Result<void> TemplateSet::add_file(const fs::path& file) {
  TMA_JIT_ASSIGN(std::string text, read_file(file));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const bool below = folder.filename() == "kernels" || folder.filename() == "probes";
  const std::vector<fs::path> folders = {folder, below ? folder / ".." : folder};
  const auto lookup = [&](std::string_view name) -> Result<std::string> {
    Result<std::string> known = header(name);
    const std::optional<fs::path> beside = known ? std::nullopt : file_in(folders, name);
    return beside ? read_file(*beside) : known;
  };
  TMA_JIT_ASSIGN(Template parsed, parse(file.string(), std::move(text), lookup));
  add(std::move(parsed));
  const std::lock_guard lock(mutex_);
  for (const fs::path& candidate : folders) {
    const bool known = std::find(added_folders_.begin(), added_folders_.end(), candidate) != added_folders_.end();
    if (!known) added_folders_.push_back(candidate);
  }
  return {};
}

TemplateSet::Listing TemplateSet::listing() {
  Listing all;
  for (const auto& added : added_) all.texts.push_back(added.get());
  for (const fs::path& folder : folders_) {
    const Result<std::vector<fs::path>> files = template_files(folder);
    if (!files) all.folders.push_back(files.error());
    for (const fs::path& file : files.value_or(std::vector<fs::path>())) {
      Result<std::string> text = read_file(file);
      if (!text) {
        all.files.push_back({stem_of(file.string()), text.error()});
        continue;
      }
      auto read = std::make_unique<Text>(Text{file.string(), std::move(*text), {}, {}, {}});
      read->kernel = declared_kernel(read->owned);
      all.texts.push_back(read.get());
      all.read.push_back(std::move(read));
    }
  }
  for (const Text& text : embedded_texts().texts) all.texts.push_back(&text);
  return all;
}

Result<TemplatePointer> TemplateSet::parsed(const Text& text, const Bare* bare) {
  if (text.added) return text.added;
  const bool embedded = text.embedded != nullptr;
  const auto parse_with = [&](const HeaderLookup& header) -> Result<TemplatePointer> {
    TMA_JIT_ASSIGN(Template fresh, parse(text.file, std::string(text.text()), header));
    fresh.embedded = embedded;
    return std::make_shared<const Template>(std::move(fresh));
  };
  if (embedded) {
    const auto own = [&]() -> Result<TemplatePointer> {
      if (bare == nullptr) return parse_with([this](std::string_view name) { return header_in(embedded_, name); });
      return bare->with_presets().map(
          [](Template whole) { return std::make_shared<const Template>(std::move(whole)); });
    };
    TMA_JIT_ASSIGN(TemplatePointer library, embedded_texts().parsed.get(&text, own));
    if (uses_current(*library)) return library;
  }
  TemplatePointer& kept = parsed_[text.file];
  if (kept && kept->text() == text.text() && uses_current(*kept)) return kept;
  TMA_JIT_ASSIGN(kept, parse_with([this](std::string_view name) { return locked_header(name); }));
  return kept;
}

bool TemplateSet::uses_current(const Template& kernel) const {
  if (folders_.empty() && added_folders_.empty() && added_headers_.empty()) return true;
  return std::ranges::all_of(kernel.used, [&](const SourcePointer& used) {
    const Result<std::string> text = locked_header(used->file);
    return text && *text == used->text;
  });
}

// A file that cannot be read is an error for every kernel that it may declare: one with a file of the same stem, which
// it may shadow, and one that is not found otherwise.
Result<std::vector<TemplatePointer>> TemplateSet::locked_find(std::string_view kernel) {
  const Listing all = listing();
  if (!all.folders.empty()) return tl::make_unexpected(all.folders.front());
  std::map<std::string, TemplatePointer> by_stem;
  for (const Text* text : all.texts) {
    if (text->kernel.empty() || text->kernel != kernel) continue;
    const std::string stem = stem_of(text->file);
    if (by_stem.contains(stem)) continue;
    TMA_JIT_ASSIGN(by_stem[stem], parsed(*text));
  }
  for (const Unreadable& file : all.files) {
    if (by_stem.contains(file.stem)) return tl::make_unexpected(file.error);
  }
  if (by_stem.empty()) {
    std::set<std::string> kernels, probes;
    for (const Text* text : all.texts) {
      if (!text->kernel.empty()) (is_probe(text->file) ? probes : kernels).emplace(text->kernel);
    }
    Error none = no_kernel(kernel, kernels, probes);
    for (const Unreadable& file : all.files) none.detail += "\n" + file.error.text();
    return tl::make_unexpected(std::move(none));
  }
  std::vector<TemplatePointer> found;
  found.reserve(by_stem.size());
  for (const auto& [stem, pointer] : by_stem) found.push_back(pointer);
  return found;
}

std::vector<TemplateSet::File>& TemplateSet::embedded_files(std::string_view kernel) {
  if (const auto known = embedded_files_.find(kernel); known != embedded_files_.end()) return known->second;
  std::vector<File> files;
  for (const Text& text : embedded_texts().texts) {
    if (text.kernel == kernel) files.push_back({stem_of(text.file), &text});
  }
  std::ranges::sort(files, {}, &File::stem);
  return embedded_files_.emplace(kernel, std::move(files)).first->second;
}

Result<TemplatePointer> TemplateSet::parsed(File& file) {
  if (file.parsed == nullptr) {
    TMA_JIT_ASSIGN(file.parsed, parsed(*file.text, file.bare ? &*file.bare : nullptr));
    file.bare.reset();
  }
  return file.parsed;
}

Result<TemplatePointer> TemplateSet::bare(File& file) {
  if (file.parsed != nullptr) return file.parsed;
  if (!file.bare) {
    auto bare = embedded_texts().bare.get(file.text, [&] {
      return Bare::parse(file.text->file, std::string(file.text->text()),
                         [this](std::string_view name) { return header_in(embedded_, name); });
    });
    if (!bare) return parsed(file);
    file.bare = *std::move(bare);
  }
  return file.bare->kernel();
}

Result<std::vector<TemplatePointer>> TemplateSet::find(std::string_view kernel, const ArchFilter& of_use) {
  const std::lock_guard lock(mutex_);
  if (!embedded_only() || kernel.empty() || embedded_files(kernel).empty()) return locked_find(kernel);
  std::vector<File>& files = embedded_files(kernel);
  const auto used = [&](File& file) {
    if (!of_use) return true;
    if (file.archs.empty()) file.archs = declared_archs(file.text->text());
    return std::ranges::any_of(file.archs, of_use);
  };
  const bool any = std::ranges::any_of(files, used);
  std::vector<TemplatePointer> found;
  for (File& file : files) {
    if (any && !used(file)) continue;
    TMA_JIT_ASSIGN(TemplatePointer pointer, parsed(file));
    found.push_back(std::move(pointer));
  }
  return found;
}

Result<TemplatePointer> TemplateSet::find_pinned(std::string_view kernel, std::string_view stem) {
  const std::lock_guard lock(mutex_);
  if (embedded_only()) {
    std::vector<File>& files = embedded_files(kernel);
    const auto file = std::ranges::find(files, stem, &File::stem);
    return file != files.end() ? bare(*file) : nullptr;
  }
  TMA_JIT_ASSIGN(const std::vector<TemplatePointer> all, locked_find(kernel));
  const auto one = std::ranges::find_if(all, [&](const TemplatePointer& file) { return file->stem() == stem; });
  return one != all.end() ? *one : nullptr;
}

TemplateSet::Declared* TemplateSet::embedded_file(std::string_view kernel, std::string_view stem) {
  if (!embedded_only()) return nullptr;
  for (Declared& known : declared_) {
    if (known.stem == stem && known.kernel == kernel) return &known;
  }
  for (const EmbeddedFile& file : embedded_) {
    if (!is_named(file, stem) || declared_kernel(file) != kernel) continue;
    return &declared_.emplace_back(Declared{std::string(kernel), std::string(stem), template_name(file), &file});
  }
  return nullptr;
}

std::string TemplateSet::embedded_name(std::string_view kernel, std::string_view stem) {
  const std::lock_guard lock(mutex_);
  const Declared* const found = embedded_file(kernel, stem);
  return found != nullptr ? found->name : std::string();
}

TemplatePointer TemplateSet::embedded_declarations(std::string_view kernel, std::string_view stem) {
  const std::lock_guard lock(mutex_);
  Declared* const found = embedded_file(kernel, stem);
  if (found == nullptr || found->read) return found != nullptr ? found->declarations : nullptr;
  found->read = true;
  auto read = parse_declarations(found->name, std::string(found->file->text()),
                                 [this](std::string_view name) { return header_in(embedded_, name); });
  if (read) found->declarations = std::make_shared<const Template>(*std::move(read));
  return found->declarations;
}

std::vector<Result<TemplatePointer>> TemplateSet::all(std::optional<std::string_view> kernel) {
  const std::lock_guard lock(mutex_);
  const Listing all = listing();
  std::map<std::pair<std::string, std::string>, Result<TemplatePointer>> by_name;
  for (const Text* text : all.texts) {
    if (kernel && text->kernel != *kernel) continue;
    const std::pair name(std::string(text->kernel), stem_of(text->file));
    if (!by_name.contains(name)) by_name.emplace(name, parsed(*text));
  }
  std::vector<Result<TemplatePointer>> list;
  list.reserve(by_name.size() + all.folders.size() + all.files.size());
  for (auto& [name, result] : by_name) list.push_back(std::move(result));
  for (const Error& error : all.folders) list.emplace_back(tl::make_unexpected(error));
  for (const Unreadable& file : all.files) list.emplace_back(tl::make_unexpected(file.error));
  return list;
}

std::vector<fs::path> TemplateSet::header_folders() const {
  std::vector<fs::path> folders = folders_;
  folders.insert(folders.end(), added_folders_.begin(), added_folders_.end());
  return folders;
}

std::optional<std::string> TemplateSet::added_header(std::string_view name) const {
  const auto found = added_headers_.find(name);
  return found != added_headers_.end() ? std::optional(found->second) : std::nullopt;
}

Result<std::string> TemplateSet::header(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return locked_header(name);
}

Result<std::string> TemplateSet::locked_header(std::string_view name) const {
  if (std::optional<std::string> added = added_header(name)) return std::move(*added);
  if (folders_.empty() && added_folders_.empty()) return header_in(embedded_, name);
  const std::vector<fs::path> folders = header_folders();
  if (const std::optional<fs::path> found = file_in(folders, name)) return read_file(*found);
  Result<std::string> embedded = header_in(embedded_, name);
  if (embedded || !is_plain_relative(name)) return embedded;
  std::string tried;
  for (const fs::path& folder : folders) tried += fmt::format("tried {}\n", (folder / name).string());
  Error error = std::move(embedded).error();
  error.detail.insert(0, tried);
  return tl::make_unexpected(std::move(error));
}

bool TemplateSet::headers_fixed() const {
  const std::lock_guard lock(mutex_);
  return folders_.empty() && added_folders_.empty() && added_headers_.empty();
}

}  // namespace tma_jit::templates
