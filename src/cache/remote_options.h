// The options of the remote level: what the environment adds to them, and the address that they name.
#pragma once

#include <tma_jit/options.h>

#include "base/environment.h"
#include "cache/remote_client.h"

namespace tma_jit::cache {

// Fills what is unset. Variables of Amazon's are for URLs of s3:// only. A role in an unknown word counts as read-only,
// which does the least.
void resolve(RemoteOptions& options, const ProcessEnvironment::Remote& environment);

// Returns the URL without credentials; "" if there is none, "a URL that cannot be read" for one that is wrong.
std::string shown(const RemoteOptions& options);

RemoteAddress address_of(const RemoteOptions& options);

}  // namespace tma_jit::cache
