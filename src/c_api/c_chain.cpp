// Chains for C.
#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Chain;
using tma_jit::Result;

Result<Chain> chain(tma_jit_engine& engine, const tma_jit_request* const* stages, size_t count) {
  const auto requests = requests_of(stages, count, "tma_jit_chain_create");
  if (!requests) return tl::make_unexpected(requests.error());
  return engine.engine.chain(*requests);
}

}  // namespace

tma_jit_status tma_jit_chain_create(tma_jit_engine* engine, const tma_jit_request* const* stages, size_t count,
                                    tma_jit_chain** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                handle_of<tma_jit_chain>([&] { return chain(*engine, stages, count); }));
}

void tma_jit_chain_free(tma_jit_chain* chain) {
  delete chain;
}

tma_jit_status tma_jit_chain_run(tma_jit_chain* chain, tma_jit_stream stream, tma_jit_error** error) {
  return guarded(__func__, error, {{"chain", chain}}, [&] { return chain->chain.launch(stream); });
}

size_t tma_jit_chain_size(const tma_jit_chain* chain) {
  return chain != nullptr ? chain->plans.size() : 0;
}

const tma_jit_plan* tma_jit_chain_plan(const tma_jit_chain* chain, size_t stage) {
  return chain != nullptr && stage < chain->plans.size() ? &chain->plans[stage] : nullptr;
}
