/* The engines behind the remote level of the cache: four verbs on a server that keeps entries by key.
 *
 * libtma_jit_remote.so has the engines of the schemes http, https, s3, bazel+http, bazel+https, redis and rediss;
 * tma_jit_register_remote adds an engine of an application's own. An engine moves bytes and judges nothing: the library
 * verifies what it returns, and bounds the time that a caller waits, whatever the engine does. */
#ifndef TMA_JIT_C_REMOTE_H
#define TMA_JIT_C_REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include <tma_jit/export.h>

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): C requires typedefs, and names with a prefix */

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t tma_jit_remote_status;
enum {
  TMA_JIT_REMOTE_OK = 0,
  TMA_JIT_REMOTE_ABSENT = 1, /* the server answered that it has no such entry */
  TMA_JIT_REMOTE_FAILED = 2, /* no answer, or none that can be used */
  TMA_JIT_REMOTE_DENIED = 3, /* the server does not accept the credentials */
  TMA_JIT_REMOTE_FULL = 4    /* the server has no space, or does not take an entry of this size */
};

/* Where the server is and how to speak to it. Texts are never NULL; one that is not given is "". Valid until `open`
 * returns, except `guard` and its functions, which are valid as long as the connection. */
typedef struct tma_jit_remote_settings {
  size_t size;
  const char* scheme; /* "https" */
  const char* host;   /* without brackets */
  int32_t port;       /* 0: the scheme's */
  const char* path;   /* "/prefix", percent-encoded; no slash at its end */
  const char* query;  /* "region=eu-west-1&endpoint=..." */
  const char* user;
  const char* password;
  const char* token;       /* a bearer token; for S3 the session's token */
  const char* ca;          /* file of certificates to trust instead of the system's */
  const char* certificate; /* the client's own, for mutual TLS; PEM files */
  const char* private_key;
  int32_t connect_ms;
  int32_t total_ms;   /* of one verb */
  uint64_t bytes_max; /* of an entry; a longer answer is refused before it is read */
  void* guard;
  /* No fork happens between `enter` and `leave`, which are called in one thread around whatever takes locks of a
   * library that the child of a fork could not release. Nothing that waits for the server lies between them. */
  void (*enter)(void* guard);
  void (*leave)(void* guard);
  /* Returns not 0 when the verb in progress is to end, with any result. Asked at least every 50 ms. */
  int32_t (*cancelled)(void* guard);
} tma_jit_remote_settings;

/* A text of the engine for an error's message, cut to `bytes`, its terminator included. Without credentials. */
typedef struct tma_jit_remote_message {
  char* text;
  size_t bytes;
} tma_jit_remote_message;

/* Takes one part of an entry's bytes, in order. Returns 0 if they are too many; `get` then fails. */
typedef int32_t (*tma_jit_remote_receiver)(void* receiver, const void* bytes, size_t count);

/* A key is 64 lower-case hexadecimal digits. Each connection is used by one thread at a time, and not in the child of a
 * fork. Threads that call have all signals blocked. */
typedef struct tma_jit_remote_engine {
  size_t size;
  /* Makes a connection without waiting for the server, called with the guard entered; NULL with a message if the
   * settings are wrong. */
  void* (*open)(const tma_jit_remote_settings* settings, tma_jit_remote_message message);
  void (*close)(void* connection);
  tma_jit_remote_status (*get)(void* connection, const char* key, tma_jit_remote_receiver receive, void* receiver,
                               tma_jit_remote_message message);
  /* Replaces what is there. */
  tma_jit_remote_status (*put)(void* connection, const char* key, const void* bytes, size_t count,
                               tma_jit_remote_message message);
  tma_jit_remote_status (*exists)(void* connection, const char* key, tma_jit_remote_message message);
  /* Returns whether the server answers and accepts the credentials. */
  tma_jit_remote_status (*health)(void* connection, tma_jit_remote_message message);
} tma_jit_remote_engine;

/* Serves URLs of `scheme` in this process, before an engine of libtma_jit_remote.so; call it before engines are
 * created. The table is copied; its functions must stay loaded. Returns 0, or 1 if a function or the scheme is missing.
 */
TMA_JIT_API int32_t tma_jit_register_remote(const char* scheme, const tma_jit_remote_engine* engine);

/* What libtma_jit_remote.so exports: its version of this interface, and the engine of a scheme, NULL if it has none. */
#define TMA_JIT_REMOTE_INTERFACE 1
typedef uint64_t (*tma_jit_remote_interface_function)(void);
typedef const tma_jit_remote_engine* (*tma_jit_remote_engine_function)(const char* scheme);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#endif
