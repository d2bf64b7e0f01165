// The table of headers in a library that lacks it: the program that makes the table, and a library for another machine
// than the one that builds it. They read the headers' texts.
#include "source/shipped_headers.h"

namespace tma_jit::source {

const ShippedHeaders kShippedHeaders = {"", {}, {}};

}  // namespace tma_jit::source
