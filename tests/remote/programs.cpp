#include "remote/programs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace tma_jit::testing {
namespace {

namespace fs = std::filesystem;

int local_socket(sockaddr_in& address, int port) {
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<std::uint16_t>(port));
  return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

bool accepts(int port) {
  sockaddr_in address{};
  const int socket = local_socket(address, port);
  const bool connected = ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return connected;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

fs::path program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "") + ":/usr/sbin:/usr/bin:";
  for (std::size_t at = 0, end = 0; (end = folders.find(':', at)) != std::string::npos; at = end + 1) {
    const fs::path file = fs::path(folders.substr(at, end - at)) / name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

int free_port() {
  sockaddr_in address{};
  const int socket = local_socket(address, 0);
  socklen_t size = sizeof address;
  const bool bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  if (!bound) throw std::runtime_error("no free port");
  return ::ntohs(address.sin_port);
}

Program::Program(const std::vector<std::string>& words, const fs::path& folder, int port) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string log = folder / "log";
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  for (int i = 0; i < 3000 && !runs_; ++i) {
    if (::waitpid(process_, nullptr, WNOHANG) != 0) break;
    runs_ = accepts(port);
    if (!runs_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Program::~Program() {
  kill();
}

void Program::kill() {
  if (process_ > 0) {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  process_ = -1;
}

Nginx::Nginx(const std::string& more, const std::string& listen) {
  const std::string root = folder.path();
  fs::create_directories(folder.path() / "files");
  write(folder.path() / "nginx.conf",
        fmt::format("daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log stderr;\nevents {{}}\n"
                    "http {{\n  access_log off;\n  client_body_temp_path {0}/body;\n  proxy_temp_path {0}/a;\n"
                    "  fastcgi_temp_path {0}/b;\n  uwsgi_temp_path {0}/c;\n  scgi_temp_path {0}/d;\n"
                    "  server {{\n    listen 127.0.0.1:{1}{2};\n    root {0}/files;\n    client_max_body_size 65m;\n"
                    "    location / {{\n      dav_methods PUT;\n      create_full_put_path on;\n    }}\n{3}  }}\n}}\n",
                    root, port, listen, more));
  const fs::path nginx = program("nginx");
  if (nginx.empty()) return;
  ::chmod(root.c_str(), 0755);
  server.emplace(std::vector<std::string>{nginx, "-p", root, "-c", root + "/nginx.conf"}, folder.path(), port);
}

std::string Nginx::url(const std::string& scheme) const {
  return fmt::format("{}://127.0.0.1:{}", scheme, port);
}

RedisServer::RedisServer(const std::vector<std::string>& more) {
  const fs::path redis = program("redis-server");
  if (redis.empty()) return;
  std::vector<std::string> words = {redis, "--bind", "127.0.0.1", "--save", "", "--dir", folder.path()};
  if (std::find(more.begin(), more.end(), "--tls-port") == more.end())
    words.insert(words.end(), {"--port", std::to_string(port)});
  words.insert(words.end(), more.begin(), more.end());
  for (std::string& word : words) {
    if (word == "PORT") word = std::to_string(port);
    if (word.starts_with("FOLDER/")) word = folder.path() / word.substr(7);
  }
  server.emplace(words, folder.path(), port);
}

std::string RedisServer::url(const std::string& user) const {
  return fmt::format("redis://{}127.0.0.1:{}", user, port);
}

// rclone checks the signature of every request, as S3 does, and answers a GET in 0.3 ms. A bucket is a folder.
S3Server::S3Server() {
  const fs::path rclone = program("rclone");
  if (rclone.empty()) return;
  fs::create_directories(folder.path() / "buckets" / "kernels");
  server.emplace(
      std::vector<std::string>{rclone, "serve", "s3", "--config", "", "--vfs-cache-mode", "off", "--auth-key",
                               "access,secret", "--addr", fmt::format("127.0.0.1:{}", port), folder.path() / "buckets"},
      folder.path(), port);
  if (!server->runs()) server.reset();  // rclone before 1.65 serves no S3
}

std::string S3Server::url(const std::string& secret) const {
  return fmt::format("s3://access:{}@kernels/some/prefix?endpoint=http://127.0.0.1:{}", secret, port);
}

void make_certificate(const fs::path& folder, const std::string& name, long from_s, long until_s) {
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&::X509_free)> made(::X509_new(), ::X509_free);
  ::X509_set_version(made.get(), 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), from_s);
  ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), until_s);
  ::X509_set_pubkey(made.get(), key.get());
  X509_NAME* subject = ::X509_get_subject_name(made.get());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                               -1, 0);
  ::X509_set_issuer_name(made.get(), subject);
  for (const auto& [nid, text] : {std::pair(NID_basic_constraints, "critical,CA:TRUE"),
                                  std::pair(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1")}) {
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, nid, text);
    ::X509_add_ext(made.get(), extension, -1);
    ::X509_EXTENSION_free(extension);
  }
  ::X509_sign(made.get(), key.get(), ::EVP_sha256());
  const auto save = [&](const char* ending, auto put) {
    std::FILE* file = std::fopen((folder / (name + ending)).c_str(), "w");
    put(file);
    std::fclose(file);
  };
  save(".key",
       [&](std::FILE* file) { ::PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  save(".pem", [&](std::FILE* file) { ::PEM_write_X509(file, made.get()); });
}

}  // namespace tma_jit::testing
