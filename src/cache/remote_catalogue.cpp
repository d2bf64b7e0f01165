#include "cache/remote_catalogue.h"

#include <cstring>
#include <string_view>

#include "base/digest.h"
#include "base/text.h"

namespace tma_jit::cache {

Key catalogue_key() {
  constexpr std::string_view kName = "tma-jit catalogue 1";
  return Key{sha256(kName.data(), kName.size())};
}

Entry to_entry(const Catalogue& catalogue) {
  Entry entry;
  for (const Key& key : catalogue.keys) {
    const auto* first = reinterpret_cast<const std::byte*>(key.bytes.data());
    entry.cubin.insert(entry.cubin.end(), first, first + key.bytes.size());
  }
  if (entry.cubin.empty()) entry.cubin.resize(1);
  for (const std::string& compiler : catalogue.compilers) entry.metadata += compiler + "\n";
  return entry;
}

Catalogue catalogue_in(const Entry& entry) {
  Catalogue catalogue;
  for (std::size_t at = 0; at + sizeof(Key) <= entry.cubin.size(); at += sizeof(Key)) {
    Key key;
    std::memcpy(key.bytes.data(), entry.cubin.data() + at, sizeof key.bytes);
    catalogue.keys.insert(key);
  }
  for (const std::string_view compiler : split(entry.metadata, '\n')) {
    if (!compiler.empty()) catalogue.compilers.emplace_back(compiler);
  }
  return catalogue;
}

}  // namespace tma_jit::cache
