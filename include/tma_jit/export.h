// Symbol visibility: everything is hidden unless it carries TMA_JIT_API.
#pragma once

#if defined(TMA_JIT_STATIC)
#define TMA_JIT_API
#else
#define TMA_JIT_API __attribute__((visibility("default")))
#endif
