#include "cache/signature.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/descriptor.h"
#include "base/write.h"
#include "cache/key_files.h"
#include "cache/reading.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

template <auto Free> struct Freeing {
  template <class T> void operator()(T* object) const { Free(object); }
};
using Pkey = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Freeing<EVP_MD_CTX_free>>;
using Bio = std::unique_ptr<BIO, Freeing<BIO_free>>;

constexpr std::size_t kPemBytesMax = 16'384;

Result<PublicKey> public_part(const EVP_PKEY* key, const std::filesystem::path& path) {
  PublicKey part;
  std::size_t size = part.bytes.size();
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, part.bytes.data(), &size) != 1 || size != part.bytes.size()) {
    return failure(ErrorCode::parse, "{}: not an Ed25519 key in PEM; make one with tma-jit cache keygen",
                   path.string());
  }
  part.id = sha256(part.bytes.data(), part.bytes.size());
  return part;
}

Result<Bio> read_pem(const std::filesystem::path& path) {
  const auto file = read_trusted(FileSystem::system(), AT_FDCWD, path.c_str(), {.limit = kPemBytesMax});
  if (!file) return failure(ErrorCode::io, "key {}: {}", path.string(), file.error().detail);
  Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || BIO_write(bio.get(), file->bytes.data(), static_cast<int>(file->bytes.size())) < 0)
    return failure(ErrorCode::io, "key {}: out of memory", path.string());
  return bio;
}

Result<PublicKey> read_public_key(const std::filesystem::path& path) {
  TMA_JIT_ASSIGN(const Bio bio, read_pem(path));
  const Pkey key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  return public_part(key.get(), path);
}

Result<Pkey> read_private_key(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return failure(ErrorCode::io, "key {}: others can read it (mode {:04o}); chmod 600 it", path.string(),
                   status.st_mode & 07777);
  }
  TMA_JIT_ASSIGN(const Bio bio, read_pem(path));
  Pkey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  TMA_JIT_CHECK(public_part(key.get(), path));
  return key;
}

Result<void> write_new(const std::filesystem::path& path, BIO* text, mode_t mode) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text, &bytes);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  const bool made = static_cast<bool>(file);
  const bool written = made && ::fchmod(file.get(), mode) == 0 &&
                       write_some(file.get(), bytes, static_cast<std::size_t>(size)) == size && file.close();
  if (written) return {};
  const int error = errno;
  if (made) ::unlink(path.c_str());
  return failure(ErrorCode::io, "cannot write the key {}: {}", path.string(), std::strerror(error));
}

}  // namespace

Result<PublicKey> make_keys(const std::filesystem::path& private_key, const std::filesystem::path& public_key) {
  const Pkey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Bio secret(BIO_new(BIO_s_mem()));
  const Bio open(BIO_new(BIO_s_mem()));
  if (!key || !secret || !open ||
      PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_PUBKEY(open.get(), key.get()) != 1)
    return failure(ErrorCode::unsupported, "libcrypto makes no Ed25519 key here");
  TMA_JIT_CHECK(write_new(private_key, secret.get(), 0600));
  if (auto written = write_new(public_key, open.get(), 0644); !written) {
    ::unlink(private_key.c_str());  // half a pair, which would stand in the way of the next try
    return tl::make_unexpected(std::move(written).error());
  }
  return public_part(key.get(), public_key);
}

Result<std::vector<PublicKey>> read_public_keys(const std::vector<std::filesystem::path>& paths) {
  TMA_JIT_ASSIGN(const auto files, key_files(paths));
  std::vector<PublicKey> keys;
  for (const auto& file : files) {
    TMA_JIT_ASSIGN(keys.emplace_back(), read_public_key(file));
  }
  return keys;
}

Result<Signed> sign(const std::filesystem::path& private_key, std::span<const std::uint8_t> message) {
  TMA_JIT_ASSIGN(const Pkey key, read_private_key(private_key));
  TMA_JIT_ASSIGN(const PublicKey part, public_part(key.get(), private_key));
  Signed made{.id = part.id};
  std::size_t size = made.signature.size();
  const Context context(EVP_MD_CTX_new());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), made.signature.data(), &size, message.data(), message.size()) != 1)
    return failure(ErrorCode::unsupported, "libcrypto cannot sign with {}", private_key.string());
  return made;
}

bool is_signed_by(const PublicKey& key, const Signature& signature, std::span<const std::uint8_t> message) {
  const Pkey pkey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const Context context(EVP_MD_CTX_new());
  return pkey && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(), message.size()) == 1;
}

}  // namespace tma_jit::cache
