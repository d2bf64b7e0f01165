#include "unused_names.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace tma_jit::cli {
namespace {

using Counts = std::map<std::string_view, int>;

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void count_names(std::string_view text, Counts& counts) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name_part(text[end])) ++end;
    if (end > at) ++counts[text.substr(at, end - at)];
    at = std::max(end, at + 1);
  }
}

std::string place(const KernelInfo::Declaration& declared) {
  return fmt::format("{}:{}", declared.file, declared.line);
}

// Adds a message for each declaration, an entry of a list by the list's name, that is mentioned once, where it is
// declared.
template <class Declared>
void add_unused(const KernelInfo& info, const std::vector<Declared>& declarations, const Counts& counts,
                std::string_view words, std::vector<std::string>& messages) {
  for (const Declared& declared : declarations) {
    if (declared.file != info.file) continue;
    const std::string& name = declared.list.empty() ? declared.name : declared.list;
    const auto found = counts.find(name);
    if (found != counts.end() && found->second > 1) continue;
    std::string message = fmt::format("{}: {}", place(declared), fmt::format(fmt::runtime(words), name));
    if (messages.empty() || messages.back() != message) messages.push_back(std::move(message));
  }
}

}  // namespace

std::vector<std::string> unused_names(const KernelInfo& info, std::string_view text, std::span<const Header> headers) {
  Counts counts;
  count_names(text, counts);
  for (const Header& header : headers) count_names(header.text, counts);
  std::vector<std::string> messages;
  add_unused(info, info.types, counts, "nothing uses the type {}", messages);
  add_unused(info, info.dims, counts, "nothing uses the dim {}, which requests must give", messages);
  add_unused(info, info.lets, counts, "nothing uses the let {}", messages);
  add_unused(info, info.hooks, counts, "nothing calls the hook {}, so that a request's text would have no effect",
             messages);
  return messages;
}

}  // namespace tma_jit::cli
