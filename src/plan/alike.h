// What a request leaves open means the same in every file of its kernel, though their defaults may differ.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

// A request, which must outlive this, as the files of its kernel take it. Until it follows one it is the same for all;
// then a file has that one's values for those params that say what is computed and that the request leaves open: those
// that are `asked`, and, where the request gives no tensors, those that decide what these are.
class AlikeRequest {
 public:
  explicit AlikeRequest(const Request& request) : request_(request) {}

  // Follows the defaults of a file, or the values of a plan's params. Both must outlive this.
  void follow(const templates::Template& file);
  void follow(const std::vector<std::pair<std::string, std::int64_t>>& config);
  bool follows() const { return static_cast<bool>(value_); }

  // Returns the request for a file; valid until the next call.
  const Request& in(const templates::Template& file);

 private:
  const Request& request_;
  std::function<std::optional<std::int64_t>(const std::string& param)> value_;  // what is followed
  std::optional<Request> pinned_;
};

}  // namespace tma_jit::plan
