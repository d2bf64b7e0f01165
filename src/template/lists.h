// Lists of dims, lets and tensors: declarations that stand for several, one for each entry.
#pragma once

#include "template/directives.h"

namespace tma_jit::templates {

// Replaces each list by its entries, each rule that names an entry, NAME[], by one for each entry, and each list that
// is a function's argument by its entries. Declares the entries' names.
[[nodiscard]] Result<void> expand_lists(Builder& builder);

}  // namespace tma_jit::templates
