/* Cache folders, packs, warm lists, seals and compile workers through the C API. Where there is no NVRTC what needs
   kernels is skipped, and the program says so. */
#include <math.h>

#include "cached.h"

static void bad_options(void) {
  tma_jit_engine* engine = NULL;
  tma_jit_options options = cached(folder);
  options.compiler_place = 3;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compiler_place is 3");
  options = cached(folder);
  options.seal = -1;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "seal is -1");
  options = cached(folder);
  options.compiler_workers = -2;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compiler_workers is -2");
  options = cached(folder);
  options.compile_time_limit_s = -2;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compile_time_limit_s");
  options.compile_time_limit_s = NAN;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT, "compile_time_limit_s");
  options = cached(folder);
  options.cache_wait_s = NAN;
  CHECK_FAILS(tma_jit_engine_create(&options, &engine, &error), TMA_JIT_INVALID_ARGUMENT,
              "cache_wait_s is not a number");
  options.cache_wait_s = INFINITY;
  options.compile_time_limit_s = INFINITY;
  engine = engine_of(&options);
  CHECK_FAILS(tma_jit_engine_seal(engine, 7, &error), TMA_JIT_INVALID_ARGUMENT, "seal is 7");
  CHECK_NULL_REFUSED(tma_jit_engine_seal(NULL, TMA_JIT_SEAL_OFF, &error), "engine");
  tma_jit_engine_free(engine);
  CHECK(tma_jit_run_compile_worker(0, NULL) == -1);
}

/* Two kernels, recorded as missed. False where there is no NVRTC. */
static int fill(const char* root, const char* misses) {
  tma_jit_options options = cached(root);
  tma_jit_engine* engine = NULL;
  tma_jit_plan* one = NULL;
  tma_jit_plan* two = NULL;
  tma_jit_status status = TMA_JIT_OK;
  options.record_misses = misses;
  options.compiler_place = TMA_JIT_PLACE_IN_PROCESS;
  engine = engine_of(&options);
  one = plan_copy(engine, 1);
  two = plan_copy(engine, 2);
  status = build(engine, one);
  if (was_built(status)) {
    REQUIRE_OK(build(engine, two));
    CHECK(stats_of(engine).misses_recorded == 2 && stats_of(engine).workers_started == 0);
  }
  tma_jit_plan_free(one);
  tma_jit_plan_free(two);
  tma_jit_engine_free(engine);
  return status == TMA_JIT_OK;
}

/* What was missed, line by line, is what another cache is warmed with. */
static void warm(const char* misses, const char* root) {
  char line[4096];
  tma_jit_options options = cached(root);
  tma_jit_engine* engine = engine_of(&options);
  tma_jit_presets* requests = NULL;
  tma_jit_plan* plan = NULL;
  char* text = NULL;
  FILE* list = fopen(misses, "r");
  int lines = 0;
  CHECK(list != NULL);
  for (; list != NULL && fgets(line, sizeof line, list) != NULL; ++lines) {
    REQUIRE_OK(tma_jit_warm_requests(engine, line, &requests, &error));
    CHECK(tma_jit_presets_count(requests) == 1);
    REQUIRE_OK(tma_jit_plan_create(engine, tma_jit_presets_at(requests, 0), &plan, &error));
    REQUIRE_OK(build(engine, plan));
    REQUIRE_OK(tma_jit_warm_line(plan, &text, &error));
    CHECK(strncmp(text, line, strlen(text) - 1) == 0); /* the recorded line ends with what its request pinned */
    tma_jit_string_free(text);
    tma_jit_plan_free(plan);
    tma_jit_presets_free(requests);
  }
  if (list != NULL) fclose(list);
  CHECK(lines == 2);
  REQUIRE_OK(tma_jit_warm_requests(engine, "{\"kernel\": \"copy\", \"presets\": true}", &requests, &error));
  CHECK(tma_jit_presets_count(requests) > 1);
  tma_jit_presets_free(requests);
  REQUIRE_OK(tma_jit_warm_requests(engine, "{\"kernel\": \"copy\", \"arch\": \"sm_120\"}", &requests, &error));
  CHECK(requests != NULL && tma_jit_presets_count(requests) == 0);
  tma_jit_presets_free(requests);
  CHECK_FAILS(tma_jit_warm_requests(engine, "copy", &requests, &error), TMA_JIT_PARSE, "not a JSON object");
  CHECK_NULL_REFUSED(tma_jit_warm_requests(engine, NULL, &requests, &error), "line");
  CHECK_NULL_REFUSED(tma_jit_warm_line(NULL, &text, &error), "plan");
  tma_jit_engine_free(engine);
}

static void note_miss(const tma_jit_miss* miss, void* user) {
  if (miss->size == sizeof *miss && strcmp(miss->kernel, "copy") == 0 && strcmp(miss->arch, "sm_90a") == 0 &&
      strlen(miss->key) == 64 && has(miss->explanation, "UNROLL: 4 here")) {
    ++*(int*)user;
  }
}

static void sealed(const char* root) {
  int misses = 0;
  char* text = NULL;
  tma_jit_options options = cached(root);
  tma_jit_engine* engine = NULL;
  tma_jit_plan* there = NULL;
  tma_jit_plan* missing = NULL;
  options.seal = TMA_JIT_SEAL_REFUSE;
  options.on_sealed_miss = note_miss;
  options.on_sealed_miss_user = &misses;
  options.log_level = TMA_JIT_LOG_OFF;
  engine = engine_of(&options);
  there = plan_copy(engine, 2);
  missing = plan_copy(engine, 4);
  REQUIRE_OK(build(engine, there));
  CHECK_FAILS(build(engine, missing), TMA_JIT_SEALED, "this engine is sealed");
  CHECK(misses == 1 && stats_of(engine).sealed_misses == 1);
  REQUIRE_OK(tma_jit_explain_json(engine, missing, &text, &error));
  CHECK(has(text, "\"found\":false") && has(text, "\"field\":\"UNROLL\",\"here\":\"4\""));
  tma_jit_string_free(text);
  REQUIRE_OK(tma_jit_explain_json(engine, there, &text, &error));
  CHECK(has(text, "\"found\":true"));
  tma_jit_string_free(text);
  REQUIRE_OK(tma_jit_engine_seal(engine, TMA_JIT_SEAL_WARN, &error));
  REQUIRE_OK(build(engine, missing));
  CHECK(misses == 2 && stats_of(engine).compiles == 1);
  tma_jit_plan_free(there);
  tma_jit_plan_free(missing);
  tma_jit_engine_free(engine);
}

static tma_jit_request* request_copy(int64_t unroll) {
  tma_jit_request* request = NULL;
  REQUIRE_OK(tma_jit_request_create("copy", &request, &error));
  REQUIRE_OK(tma_jit_request_dim(request, "N", 4096, &error));
  REQUIRE_OK(tma_jit_request_param(request, "UNROLL", unroll, &error));
  return request;
}

/* Which kernels a folder lacks: the third request's, and the fourth, which is for no kernel. Compiles nothing. */
static void proof(const char* root) {
  tma_jit_options options = cached(root);
  tma_jit_engine* engine = NULL;
  tma_jit_request* requests[4] = {request_copy(1), request_copy(2), request_copy(8), NULL};
  char* text = NULL;
  int i = 0;
  options.seal = TMA_JIT_SEAL_REFUSE;
  engine = engine_of(&options);
  REQUIRE_OK(tma_jit_request_create("copyy", &requests[3], &error));
  REQUIRE_OK(tma_jit_prove_json(engine, (const tma_jit_request* const*)requests, 2, &text, &error));
  CHECK(has(text, "{\"there\":2,\"missing\":[],\"ms\":"));
  tma_jit_string_free(text);
  REQUIRE_OK(tma_jit_prove_json(engine, (const tma_jit_request* const*)requests, 4, &text, &error));
  CHECK(has(text, "{\"there\":2,\"missing\":[{\"request\":2,\"error\":{\"code\":\"not_found\""));
  CHECK(has(text, "{\"request\":3,\"error\":{\"code\":\"not_found\"") && has(text, "copyy"));
  tma_jit_string_free(text);
  REQUIRE_OK(tma_jit_prove_json(engine, NULL, 0, &text, &error));
  CHECK(has(text, "{\"there\":0,\"missing\":[],\"ms\":"));
  tma_jit_string_free(text);
  CHECK(stats_of(engine).compiles == 0 && stats_of(engine).loads == 0);
  for (i = 0; i < 4; ++i) tma_jit_request_free(requests[i]);
  requests[0] = NULL;
  CHECK_FAILS(tma_jit_prove_json(engine, (const tma_jit_request* const*)requests, 1, &text, &error),
              TMA_JIT_INVALID_ARGUMENT, "requests[0] is NULL");
  CHECK_NULL_REFUSED(tma_jit_prove_json(NULL, NULL, 0, &text, &error), "engine");
  tma_jit_engine_free(engine);
}

static void single_entries(const char* root) {
  char prefix[9] = {0};
  size_t bytes = 1;
  char* json = NULL;
  const char* key = NULL;
  tma_jit_cache_entry* entry = NULL;
  REQUIRE_OK(tma_jit_cache_verify_json(root, &json, &error));
  key = strstr(json, "\"key\":\"");
  CHECK(key != NULL);
  if (key != NULL) memcpy(prefix, key + 7, 8);
  tma_jit_string_free(json);
  REQUIRE_OK(tma_jit_cache_read(root, prefix, &entry, &error));
  CHECK(memcmp(tma_jit_cache_entry_data(entry, &bytes), "\177ELF", 4) == 0 && bytes > 64);
  CHECK(strncmp(tma_jit_cache_entry_key(entry), prefix, 8) == 0 && strlen(tma_jit_cache_entry_key(entry)) == 64);
  CHECK(strcmp(tma_jit_cache_entry_kernel(entry), "copy") == 0);
  CHECK(strcmp(tma_jit_cache_entry_arch(entry), "sm_90a") == 0);
  CHECK(has(tma_jit_cache_entry_metadata(entry), "\"UNROLL\""));
  tma_jit_cache_entry_free(entry);
  CHECK_FAILS(tma_jit_cache_read(root, "", &entry, &error), TMA_JIT_INVALID_ARGUMENT, "entries");
  CHECK_FAILS(tma_jit_cache_read(root, "xyz", &entry, &error), TMA_JIT_NOT_FOUND, "xyz");
  CHECK(entry == NULL && tma_jit_cache_entry_key(NULL) == NULL && tma_jit_cache_entry_data(NULL, &bytes) == NULL);
  CHECK(bytes == 0 && tma_jit_cache_entry_metadata(NULL) == NULL);
  tma_jit_cache_entry_free(NULL);
}

static void packs(const char* root) {
  const char* const pack = in_folder(3, "kernels.tmjpack");
  const char* const other = in_folder(4, "unpacked");
  const char* const keys[] = {in_folder(5, "own.pub"), NULL};
  const char* const strangers[] = {in_folder(6, "other.pub")};
  tma_jit_pack_info info;
  char* text = NULL;
  char* id = NULL;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  REQUIRE_OK(tma_jit_cache_keygen(in_folder(7, "other.key"), strangers[0], &id, &error));
  tma_jit_string_free(id);
  REQUIRE_OK(tma_jit_cache_keygen(in_folder(7, "own.key"), keys[0], &id, &error));
  REQUIRE_OK(tma_jit_cache_pack(root, pack, names[7], &info, &error));
  CHECK(info.entries == 2 && info.skipped == 0 && info.bytes > 0 && strcmp(info.signer, id) == 0);
  REQUIRE_OK(tma_jit_pack_verify_json(pack, keys, 1, &text, &error));
  CHECK(has(text, "\"kernel\":\"copy\"") && has(text, "\"fault\":\"\""));
  tma_jit_string_free(text);
  CHECK_FAILS(tma_jit_pack_verify_json(pack, strangers, 1, &text, &error), TMA_JIT_IO, "sign");
  CHECK_FAILS(tma_jit_cache_unpack(pack, other, strangers, 1, NULL, &error), TMA_JIT_IO, "sign");
  CHECK_FAILS(tma_jit_cache_unpack(pack, other, keys, 2, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "pack_keys[1]");
  CHECK_FAILS(tma_jit_cache_unpack(pack, other, NULL, 2, NULL, &error), TMA_JIT_INVALID_ARGUMENT, "pack_keys is NULL");
  REQUIRE_OK(tma_jit_cache_unpack(pack, other, keys, 1, &info, &error));
  CHECK(info.entries == 2 && strcmp(info.signer, id) == 0);
  REQUIRE_OK(tma_jit_cache_pack(other, pack, NULL, NULL, &error));
  REQUIRE_OK(tma_jit_cache_unpack(pack, other, NULL, 0, &info, &error));
  CHECK(info.signer[0] == 0);
  CHECK_NULL_REFUSED(tma_jit_cache_pack(root, NULL, NULL, NULL, &error), "file");
  CHECK_NULL_REFUSED(tma_jit_cache_unpack(pack, NULL, NULL, 0, NULL, &error), "root");
  CHECK_NULL_REFUSED(tma_jit_cache_keygen(NULL, pack, &text, &error), "private_key");
  tma_jit_string_free(id);
}

static void trimming(const char* root) {
  tma_jit_cache_trimmed trimmed;
  uint64_t removed = 0;
  memset(&trimmed, 0, sizeof trimmed);
  trimmed.size = sizeof trimmed;
  REQUIRE_OK(tma_jit_cache_trim(root, UINT64_MAX, 1, &trimmed, &error));
  CHECK(trimmed.entries == 3 && trimmed.removed == 2 && trimmed.removed_bytes < trimmed.bytes);
  REQUIRE_OK(tma_jit_cache_trim(root, 0, 0, NULL, &error));
  REQUIRE_OK(tma_jit_cache_clear(root, &removed, &error));
  CHECK(removed == 0);
  CHECK_NULL_REFUSED(tma_jit_cache_trim(NULL, 0, 0, NULL, &error), "root");
}

int main(int argc, char** argv) {
  const char* root = NULL;
  const char* misses = NULL;
  const int32_t worker = tma_jit_run_compile_worker(argc, argv);
  if (worker >= 0) return worker;
  if (mkdtemp(folder) == NULL) return 1;
  root = in_folder(0, "cache");
  misses = in_folder(1, "misses.jsonl");
  bad_options();
  if (fill(root, misses)) {
    warm(misses, in_folder(2, "warmed"));
    proof(root);
    single_entries(names[2]);
    packs(names[2]);
    sealed(root);
    trimming(root);
  }
  return finished_in_folder("caching");
}
