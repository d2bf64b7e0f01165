#include "remote/engine.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tma_jit::remote {
namespace {

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      plain += static_cast<char>(value);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

Settings::Settings(const tma_jit_remote_settings& given)
    : scheme(given.scheme),
      host(given.host),
      path(given.path),
      query(given.query),
      user(given.user),
      password(given.password),
      token(given.token),
      ca(given.ca),
      certificate(given.certificate),
      private_key(given.private_key),
      port(given.port),
      connect_ms(given.connect_ms),
      total_ms(given.total_ms),
      bytes_max(given.bytes_max),
      guard(given.guard),
      enter(given.enter),
      leave(given.leave),
      cancelled(given.cancelled) {}

std::string Settings::option(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return decoded(pair.substr(name.size() + 1));
  }
  return {};
}

OpensslThread::~OpensslThread() {
  const NoFork no_fork(settings_);
  ::OPENSSL_thread_stop();
}

void write_message(tma_jit_remote_message message, std::string_view text) {
  if (message.text == nullptr || message.bytes == 0) return;
  const std::size_t count = std::min(text.size(), message.bytes - 1);
  std::memcpy(message.text, text.data(), count);
  message.text[count] = '\0';
}

}  // namespace tma_jit::remote
