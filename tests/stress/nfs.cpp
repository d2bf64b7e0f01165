// A real NFS server and two clients of it, all on this machine, in namespaces of the test's own: nothing of it is left
// when the test ends, however it ends.
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "base/descriptor.h"
#include "base/file.h"
#include "scenario.h"
#include "shell.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

constexpr int kSkipped = 77;
constexpr unsigned kMachines = 2, kKeys = 40;
constexpr Work kWork{.compile_us = 3'000};

// NFS 4 from user space, so that it ends with its process namespace.
constexpr const char* kConfiguration = R"(
NFS_CORE_PARAM {{ NFS_Port = 2049; Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; Lease_Lifetime = 5; RecoveryBackend = fs; RecoveryRoot = "{0}/recovery"; }}
EXPORT {{ Export_Id = 1; Path = "{0}/served"; Pseudo = "/served"; Access_Type = RW; Squash = No_Root_Squash;
          SecType = sys; FSAL {{ Name = VFS; }} }}
LOG {{ Default_Log_Level = EVENT; }}
)";

bool bring_up_loopback() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

struct Machine {
  std::filesystem::path mount;
  TemporaryFolder local{"/dev/shm"};
  Counts& counts = shared_counts();

  cache::LayerSettings settings() {
    cache::LayerSettings settings = settings_for(mount / "cache", counts);
    settings.node = local.path() / "node";
    settings.patience = std::chrono::seconds(2);
    return settings;
  }
};

class Server {
 public:
  explicit Server(const std::filesystem::path& folder) : folder_(folder) {
    for (const char* name : {"served", "recovery", "a", "b"}) std::filesystem::create_directory(folder / name);
    (void)write_file(folder / "ganesha.conf", fmt::format(kConfiguration, folder.string()));
    pid_ = ::fork();
    if (pid_ != 0) return;
    (void)::close_range(3, ~0U, 0);
    ::execlp("ganesha.nfsd", "ganesha.nfsd", "-F", "-f", (folder / "ganesha.conf").c_str(), "-L",
             (folder / "log").c_str(), "-p", (folder / "pid").c_str(), nullptr);
    ::_exit(127);
  }
  ~Server() {
    for (const char* name : {"a", "b"}) ::umount2((folder_ / name).c_str(), MNT_FORCE | MNT_DETACH);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The server takes a while to listen.
  bool mount_at(const std::filesystem::path& place) const {
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (shell(fmt::format("mount -t nfs4 -o vers=4.1,port=2049,nosharecache,timeo=50 127.0.0.1:/served {}",
                            place.string())) == 0)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  void stop() const { ::kill(pid_, SIGSTOP); }
  void go_on() const { ::kill(pid_, SIGCONT); }

 private:
  std::filesystem::path folder_;
  pid_t pid_ = -1;
};

void work_on(std::array<Machine, kMachines>& machines, Report& report) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8 * kMachines; ++i) {
    threads.emplace_back([&, i] {
      Machine& machine = machines[i % kMachines];
      cache::Layers layers(machine.settings());
      for (unsigned k = 0; k < kKeys; ++k) obtain(layers, (k + i * 5) % kKeys, kWork, machine.counts);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Machine& machine : machines) {
    unsigned most = 0;
    for (unsigned k = 0; k < kKeys; ++k) most = std::max<unsigned>(most, machine.counts.compiles[k]);
    report.row("a client with 8 threads x {} keys: {} compiles, at most {} a key, {} failed writes", kKeys,
               machine.counts.total(), most, machine.counts.put_failures.load());
    report.expect(most <= 1, "a key compiled twice on one machine");
    report.equal(machine.counts.wrong + machine.counts.unsound, 0, "wrong results and damage");
  }
}

double seconds_of_get(cache::Layers& layers, unsigned number, bool& hit) {
  const auto start = Clock::now();
  hit = layers.get(cache::sample_key(number)).entry.has_value();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void hang(Machine& machine, const Server& server, Report& report) {
  cache::LayerSettings settings = machine.settings();
  const TemporaryFolder empty("/dev/shm");
  settings.node = empty.path() / "node";
  cache::Layers layers(settings);
  bool hit = false;
  seconds_of_get(layers, 1, hit);
  report.expect(hit, "what is in the served folder is not found");
  server.stop();
  (void)shell("echo 2 > /proc/sys/vm/drop_caches");
  const double first = seconds_of_get(layers, 2, hit), second = seconds_of_get(layers, 3, hit);
  report.row("the server stopped: {:.2f} s for the first lookup, {:.3f} s for the next", first, second);
  report.expect(first < 5 && second < 5, "a lookup took longer than its bound");
  server.go_on();
  for (int i = 0; i < 300 && !hit; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    seconds_of_get(layers, 4, hit);
  }
  report.expect(hit, "no hit after the server went on");
}

// The first process of its namespaces: when it ends, the system ends whatever it has started.
int serve_and_work() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !bring_up_loopback()) return kSkipped;
  Report report;
  const TemporaryFolder folder;
  const Server server(folder.path());
  std::array<Machine, kMachines> machines;
  machines[0].mount = folder.path() / "a";
  machines[1].mount = folder.path() / "b";
  for (const Machine& machine : machines) {
    if (!server.mount_at(machine.mount)) return kSkipped;
  }
  work_on(machines, report);
  hang(machines[0], server, report);
  return report.failures() != 0 ? 1 : 0;
}

int in_namespaces() {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) != 0) return kSkipped;
  return in_child(serve_and_work);
}

bool kernel_has_nfs() {
  (void)shell("modprobe nfsv4");
  return read_file("/proc/filesystems").value_or("").find("nfs4") != std::string::npos;
}

}  // namespace

void nfs(const Budget&, Report& report) {
  if (::geteuid() != 0) return report.skip("mounting needs root");
  if (!kernel_has_nfs()) return report.skip("this kernel has no client of NFS 4");
  if (!has_program("ganesha.nfsd") || !has_program("mount.nfs4"))
    return report.skip("there is no ganesha.nfsd or mount.nfs4 (Debian: nfs-ganesha, nfs-ganesha-vfs, nfs-common)");
  const int ended = in_child(in_namespaces);
  if (ended == kSkipped) return report.skip("no namespaces, or the server cannot be mounted here");
  report.equal(static_cast<std::uint64_t>(ended), 0, "how the test ended");
}

}  // namespace tma_jit::stress
