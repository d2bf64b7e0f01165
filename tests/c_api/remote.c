/* A cache's remote level through the C API. Where there is no NVRTC it is skipped, and the program says so. */
#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cached.h"

/* A server that is not there costs no error; the counters tell of it. */
static void server(void) {
  tma_jit_options options = cached(in_folder(3, "beside a server"));
  tma_jit_engine* engine = NULL;
  tma_jit_plan* plan = NULL;
  tma_jit_stats stats;
  options.remote = "http://me:s3cret@127.0.0.1:1";
  options.remote_role = "both";
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "remote_role is \"both\"");
  options.remote_role = "read-only";
  options.remote_wait_s = NAN;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "remote_wait_s");
  options.remote_wait_s = 0.5;
  options.remote_flush_s = TMA_JIT_NONE;
  options.log_level = TMA_JIT_LOG_OFF;
  engine = engine_of(&options);
  plan = plan_copy(engine, 1);
  REQUIRE_OK(build(engine, plan));
  stats = stats_of(engine);
  CHECK(stats.compiles == 1 && stats.remote_hits == 0 && stats.remote_off == 1);
  CHECK(stats.remote_errors + stats.remote_skipped == 1);
  tma_jit_plan_free(plan);
  tma_jit_engine_free(engine);
}

static void keep_warning(tma_jit_log_level level, const char* message, void* user) {
  if (level == TMA_JIT_LOG_WARNING) snprintf((char*)user, 512, "%s", message);
}

/* The library that is named is the one that is opened. */
static void named_library(void) {
  tma_jit_options options = cached(in_folder(3, "beside a library"));
  tma_jit_engine* engine = NULL;
  tma_jit_plan* plan = NULL;
  char warning[512] = "";
  options.remote = "http://127.0.0.1:1";
  options.remote_library = in_folder(4, "no library.so");
  options.log = keep_warning;
  options.log_user = warning;
  engine = engine_of(&options);
  plan = plan_copy(engine, 1);
  REQUIRE_OK(build(engine, plan));
  CHECK(has(warning, options.remote_library));
  tma_jit_plan_free(plan);
  tma_jit_engine_free(engine);
}

#ifdef REMOTE
static char asked[4096]; /* what the server below was asked, once its thread has ended */

/* Has no entry, whatever it is asked; ends when its socket is shut down. */
static void* serve(void* user) {
  static const char kNone[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  const int listener = *(int*)user;
  for (int client = accept(listener, NULL, NULL); client >= 0; client = accept(listener, NULL, NULL)) {
    const ssize_t count = read(client, asked, sizeof asked - 1);
    asked[count > 0 ? count : 0] = '\0';
    CHECK(write(client, kNone, sizeof kNone - 1) == (ssize_t)(sizeof kNone - 1));
    close(client);
  }
  return NULL;
}

/* The server gets what the options say of the client. */
static void credentials(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  tma_jit_options options = cached(in_folder(3, "beside a server that answers"));
  tma_jit_engine* engine = NULL;
  tma_jit_plan* plan = NULL;
  pthread_t server_thread;
  char url[64];
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0 && listen(listener, 8) == 0);
  CHECK(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
  CHECK(pthread_create(&server_thread, NULL, serve, &listener) == 0);
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
  options.remote = url;
  options.remote_role = "read-only";
  options.remote_token = "a-token";
  options.remote_wait_s = 20;
  engine = engine_of(&options);
  plan = plan_copy(engine, 1);
  REQUIRE_OK(build(engine, plan));
  CHECK(stats_of(engine).remote_misses == 1);
  tma_jit_plan_free(plan);
  tma_jit_engine_free(engine);
  shutdown(listener, SHUT_RDWR);
  pthread_join(server_thread, NULL);
  close(listener);
  CHECK(has(asked, "Authorization: Bearer a-token\r\n"));
}
#endif

/* False where there is no NVRTC. */
static int builds(void) {
  tma_jit_options options = cached(in_folder(0, "cache"));
  tma_jit_engine* engine = engine_of(&options);
  tma_jit_plan* plan = plan_copy(engine, 1);
  const tma_jit_status status = build(engine, plan);
  tma_jit_plan_free(plan);
  tma_jit_engine_free(engine);
  return was_built(status);
}

int main(int argc, char** argv) {
  const int32_t worker = tma_jit_run_compile_worker(argc, argv);
  if (worker >= 0) return worker;
  if (mkdtemp(folder) == NULL) return 1;
  if (builds()) {
    server();
    named_library();
#ifdef REMOTE
    credentials();
#endif
  }
  return finished_in_folder("remote");
}
