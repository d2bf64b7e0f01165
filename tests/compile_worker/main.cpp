// The compile worker of the tests: as the real one, except where the source it is given says otherwise:
//
//   FAULT(what)                 every time
//   FAULT(what, once, FILE)     if FILE is not there yet; it then is
//   FAULT(what, when, TEXT)     if TEXT is in the source too
//   FAULT(wait, for, FILE)      goes on once FILE is there
//
// what: segv abort kill exit hang garbage half flood memory slow chatter; "echo" answers without compiling, and says in
// the log what this process has been given. The word --greeting=WHAT makes it greet badly: none, garbage, exit, unable.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "base/text.h"
#include "compile/find_worker.h"
#include "compile/frame.h"
#include "compile/serve.h"

namespace tma_jit::compile {
namespace {

void send_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(0, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) ::_exit(9);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Ends by the signal even where a sanitizer would catch it.
[[noreturn]] void die(int signal) {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  hang();
}

void take_memory() {
  std::vector<std::string> held;
  while (true) held.emplace_back(std::size_t{16} << 20, 'x');
}

// What this process was given, a fact a line.
std::string circumstances() {
  std::string text = "pid " + std::to_string(::getpid()) + "\n";
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.find("/proc/") == std::string::npos)
      text += "fd " + entry.path().filename().string() + " " + target + "\n";
  }
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (::sigismember(&blocked, signal) == 1) text += "blocked " + std::to_string(signal) + "\n";
    if (action.sa_handler == SIG_IGN) text += "ignored " + std::to_string(signal) + "\n";
  }
  text += ::getpgrp() == ::getpid() ? "own group\n" : "";
  std::ifstream score("/proc/self/oom_score_adj");
  std::string value;
  score >> value;
  text += "oom " + value + "\n";
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  return text + "core " + std::to_string(core.rlim_cur) + "\n";
}

Outcome echo() {
  Outcome outcome;
  outcome.log = circumstances();
  outcome.words = "echo";
  return outcome;
}

void fault(std::string_view what) {
  if (what == "segv") die(SIGSEGV);
  if (what == "abort") die(SIGABRT);
  if (what == "kill") die(SIGKILL);
  if (what == "exit") ::_exit(7);
  if (what == "hang") hang();
  if (what == "garbage") {
    send_raw("this is not a frame at all, it is far longer than a header");
    hang();
  }
  if (what == "half") {
    const std::string frame = to_bytes(FrameKind::outcome, to_payload(WorkerOutcome{}));
    send_raw(std::string_view(frame).substr(0, frame.size() / 2));
    ::_exit(0);
  }
  if (what == "flood") {
    send_raw(to_bytes(FrameKind::greeting, to_payload(Greeting{})));
    hang();
  }
  if (what == "chatter") {
    for (int i = 0; i < 20000; ++i) std::cerr << "noise " << i << '\n';
    std::cerr << "these are my last words" << std::endl;
    die(SIGSEGV);
  }
  if (what == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (what == "memory") take_memory();
}

void wait_for(const std::string& file) {
  while (::access(file.c_str(), F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool applies(const std::vector<std::string_view>& words, const std::string& text) {
  if (words.size() < 3) return true;
  const std::string_view how = trimmed(words[1]);
  const std::string third(trimmed(words[2]));
  if (how == "when") return text.find(third) != text.rfind(third);  // beside its mention here
  const int file = ::open(third.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

// The directives of a source, done in order; true where it asks for an echo.
bool obey(const std::string& text) {
  constexpr std::string_view kStart = "FAULT(";
  bool echoes = false;
  for (std::size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + 1)) {
    const std::size_t begin = at + kStart.size();
    const std::string inside = text.substr(begin, text.find(')', begin) - begin);
    const std::vector<std::string_view> words = split(inside, ',');
    if (trimmed(words[0]) == "wait") {
      wait_for(std::string(trimmed(words.back())));
      continue;
    }
    if (!applies(words, text)) continue;
    fault(trimmed(words[0]));
    echoes = echoes || trimmed(words[0]) == "echo";
  }
  return echoes;
}

Service service_of(const std::string& nvrtc, std::string_view greeting) {
  if (greeting == "none") hang();
  if (greeting == "exit") ::_exit(5);
  if (greeting == "garbage") send_raw("good morning, good morning, good morning");
  if (greeting == "unable") return {{{}, Error{ErrorCode::unsupported, "NVRTC is too old", "details"}}, {}};
  if (nvrtc.empty())
    return {{{{13, 0}, {"sm_90"}, {}}, {}}, [](const Job& job) {
              obey(job.source.text);
              return echo();
            }};
  Service service = nvrtc_service(nvrtc);
  service.compile = [real = service.compile](const Job& job) { return obey(job.source.text) ? echo() : real(job); };
  return service;
}

int run(const std::vector<std::string>& words) {
  ServeSettings settings;
  std::string nvrtc, greeting;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& next = i + 1 < words.size() ? words[i + 1] : words[i];
    if (words[i] == "--nvrtc") nvrtc = next;
    if (words[i] == "--memory") settings.memory_bytes = std::stoull(next);
    if (words[i] == "--idle-ms") settings.idle = std::chrono::milliseconds(std::stoi(next));
    if (words[i] == "--slots") settings.slots.count = std::stoi(next);
    if (words[i] == "--slot-file") settings.slots.file = next;
    if (words[i].starts_with("--greeting=")) greeting = words[i].substr(11);
  }
  return serve(settings, [&] { return service_of(nvrtc, greeting); });
}

}  // namespace
}  // namespace tma_jit::compile

int main(int argc, char** argv) {
  return tma_jit::compile::run(std::vector<std::string>(argv + 1, argv + argc));
}
