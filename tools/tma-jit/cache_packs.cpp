// tma-jit cache pack, unpack, keygen: converts a cache folder to one immutable, optionally signed file, and back.

#include "cache.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

Json pack_json(const PackInfo& info, const std::string& file) {
  return {{"pack", file},
          {"entries", info.entries},
          {"bytes", info.bytes},
          {"skipped", info.skipped},
          {"signer", info.signer}};
}

void tell_skipped(const Settings& settings, const PackInfo& info) {
  if (info.skipped != 0) settings.console.note("{} faulty entries were left out", info.skipped);
}

Outcome<int> pack(const Settings& settings, const CacheWords& words) {
  CLI_ASSIGN(const PackInfo info, words.oci ? cache_pack_oci(cache_root(settings), words.file, words.sign)
                                            : cache_pack(cache_root(settings), words.file, words.sign));
  settings.console.report("{}: {} entries, {}, {}\n", words.file, info.entries, readable_bytes(info.bytes),
                          info.signer.empty() ? "not signed" : "signed by " + info.signer.substr(0, 16));
  tell_skipped(settings, info);
  settings.console.object(pack_json(info, words.file));
  return kDone;
}

Outcome<int> unpack(const Settings& settings, const CacheWords& words) {
  CLI_CHECK(check_pack(words.file));
  CLI_ASSIGN(const PackInfo info, cache_unpack(words.file, cache_root(settings), pack_keys(words), settings.shared));
  settings.console.report("{} entries put into {}\n", info.entries - info.skipped, cache_root(settings).string());
  tell_skipped(settings, info);
  settings.console.object(pack_json(info, words.file));
  return info.skipped == 0 ? kDone : kFailed;
}

Outcome<int> keygen(const Settings& settings, const CacheWords& words) {
  if (!std::filesystem::path(words.file).has_filename())
    return usage("cache keygen {0}: it names a folder; name the two files in it, e.g. {0}builder", words.file);
  const std::string secret = words.file + ".key", open = words.file + ".pub";
  CLI_ASSIGN(const std::string id, cache_keygen(secret, open));
  settings.console.report("{}: keep it secret; cache pack --sign takes it\n{}: give it to who loads the packs\nid {}\n",
                          secret, open, id);
  settings.console.object({{"private_key", secret}, {"public_key", open}, {"id", id}});
  return kDone;
}

}  // namespace

void add_cache_packs(Verb cache, Settings& settings) {
  add_cache_action(cache, settings, "pack", "all sound entries as one file, for images and fleets", pack,
                   [](Verb action, CacheWords& words) {
                     action.option("file", words.file, "the pack to write; with --oci a folder").required();
                     action.option("--sign", words.sign, "private key to sign it with (see keygen)");
                     action.flag("--oci", words.oci, "make a folder that OCI clients push to a registry");
                   });
  const Verb into =
      add_cache_action(cache, settings, "unpack", "the entries of a pack into the cache folder", unpack,
                       [](Verb action, CacheWords& words) {
                         action.option("file", words.file, "the pack to read").required();
                         action.repeated("--pack-key", words.pack_keys, "public key that must have signed it");
                       });
  add_shared(into, settings);
  add_cache_action(cache, settings, "keygen", "an Ed25519 key pair to sign packs with: NAME.key and NAME.pub", keygen,
                   [](Verb action, CacheWords& words) {
                     action.option("name", words.file, "where the two files go, without .key").required();
                   });
}

}  // namespace tma_jit::cli
