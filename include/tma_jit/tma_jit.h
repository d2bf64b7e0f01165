// Includes the public C++ API.
#pragma once

#include <tma_jit/artifact.h>
#include <tma_jit/cache.h>
#include <tma_jit/chain.h>
#include <tma_jit/compile_worker.h>
#include <tma_jit/device.h>
#include <tma_jit/device_choice.h>
#include <tma_jit/device_info.h>
#include <tma_jit/dtype.h>
#include <tma_jit/emulator.h>
#include <tma_jit/engine.h>
#include <tma_jit/error.h>
#include <tma_jit/estimate.h>
#include <tma_jit/json.h>
#include <tma_jit/launch.h>
#include <tma_jit/lost_arrival.h>
#include <tma_jit/plan.h>
#include <tma_jit/preparation.h>
#include <tma_jit/request.h>
#include <tma_jit/tensor.h>
#include <tma_jit/tuning.h>
#include <tma_jit/version.h>
#include <tma_jit/warm_list.h>
