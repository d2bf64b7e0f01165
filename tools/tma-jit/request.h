// Converts the arguments of a command to a Request: the kernel, NAME=VALUE words, and the options that describe a
// launch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "command_line.h"
#include "kernel.h"
#include "outcome.h"

namespace tma_jit::cli {

struct RequestWords {
  std::string kernel;
  std::vector<std::string> words;     // dims, params and types
  std::vector<std::string> fixed;     // --fix NAME
  std::vector<std::string> hooks;     // --hook NAME=TEXT
  std::vector<std::string> operands;  // --operand 'NAME : TYPE[EXTENTS]'
  int sm_budget = 0;                  // --sm-budget
  bool untrusted_hooks = false;       // --untrusted-hooks
  std::vector<std::string> scalars;   // --scalar NAME=NUMBER
  std::string template_file;          // --template-file STEM
};

void add_request_options(Verb verb, RequestWords& words);

struct KernelRequest {
  Kernel kernel;
  Request request;
};

// Reads NAME=TEXT of hooks. Every name must be declared; an unknown one is a usage error with a suggestion.
[[nodiscard]] Outcome<std::map<std::string, std::string>> read_hooks(const Kernel& kernel,
                                                                     const std::vector<std::string>& words);
// Adds the request's operands to the kernel's tensors and scalars. Every name must be declared; an unknown one is a
// usage error with a suggestion.
[[nodiscard]] Outcome<KernelRequest> read_request(Engine& engine, const RequestWords& words);

}  // namespace tma_jit::cli
