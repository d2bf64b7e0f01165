// Servers that are programs of this machine: nginx, Redis, and an S3 server. A test of one that is not installed is
// left out with a message.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace tma_jit::testing {

// Returns the path of a program, searched in PATH and where Debian keeps servers; empty if there is none.
std::filesystem::path program(const std::string& name);

// Returns a port that nothing listens on.
int free_port();

// A server's process, killed with the object. Its output goes to `log` in the folder.
class Program {
 public:
  // Waits until the port accepts connections.
  Program(const std::vector<std::string>& words, const std::filesystem::path& folder, int port);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  bool runs() const { return runs_; }
  void kill();

 private:
  pid_t process_ = -1;
  bool runs_ = false;
};

// nginx as a server of files below <folder>/files, which takes PUT. `more` is added to its server block; "ssl" in
// `listen` makes it speak TLS.
struct Nginx {
  explicit Nginx(const std::string& more = {}, const std::string& listen = {});
  std::string url(const std::string& scheme = "http") const;

  TemporaryFolder folder;
  int port = free_port();
  std::optional<Program> server;
};

struct RedisServer {
  explicit RedisServer(const std::vector<std::string>& more = {});
  std::string url(const std::string& user = {}) const;

  TemporaryFolder folder;
  int port = free_port();
  std::optional<Program> server;
};

// rclone as a server of S3, with a bucket named "kernels" for the key "access" with the secret "secret".
struct S3Server {
  S3Server();
  std::string url(const std::string& secret = "secret") const;

  TemporaryFolder folder;
  int port = free_port();
  std::optional<Program> server;
};

// A key and a certificate for 127.0.0.1 and localhost that it signed itself, valid from and until so many seconds from
// now; written to <folder>/<name>.key and .pem.
void make_certificate(const std::filesystem::path& folder, const std::string& name, long from_s, long until_s);

}  // namespace tma_jit::testing
