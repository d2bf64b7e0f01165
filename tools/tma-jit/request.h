// From the words of a command to a Request: the kernel, NAME=VALUE words, and the options that describe a launch.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tma_jit/engine.h>
#include <CLI/CLI.hpp>

#include "kernel.h"
#include "outcome.h"

namespace tma_jit::cli {

struct RequestWords {
  std::string kernel;
  std::vector<std::string> words;    // dims, params and types
  std::vector<std::string> fixed;    // --fix NAME
  std::vector<std::string> hooks;    // --hook NAME=TEXT
  std::vector<std::string> scalars;  // --scalar NAME=NUMBER
  std::string template_file;         // --template-file STEM
};

void add_request_options(CLI::App& verb, RequestWords& words);

struct KernelRequest {
  Kernel kernel;
  Request request;
};

// Every name is looked up in the kernel's declarations; an unknown one is a usage failure with a suggestion.
Outcome<KernelRequest> read_request(Engine& engine, const RequestWords& words);

// Optional tensors and hook arguments exist or not by a parameter (`when INPUTS >= 2`). Pins those parameters the
// command left open so that the tensors in `given`, and every argument that a hook's text names, exist.
Outcome<Request> with_optionals(Engine& engine, const Kernel& kernel, Request request,
                                const std::set<std::string>& given);

}  // namespace tma_jit::cli
