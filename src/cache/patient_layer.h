// A layer on a file server, which may stop answering at any time.
#pragma once

#include <chrono>
#include <memory>

#include "base/patience.h"
#include "cache/layer.h"

namespace tma_jit::cache {

// Returns "cache folder X: it did not answer within 10 s; ...".
std::string no_answer(const std::string& name, std::chrono::milliseconds limit);

// Accesses another layer from a separate thread and waits at most `limit` for it. What takes longer is a miss (io) or a
// failed write, and no further access starts until the one that hangs is done.
class PatientLayer final : public Layer {
 public:
  PatientLayer(std::shared_ptr<const Layer> layer, std::chrono::milliseconds limit)
      : layer_(std::move(layer)), patience_(limit) {}

  const std::string& name() const override { return layer_->name(); }
  bool local() const override { return layer_->local(); }
  Lookup get(const Key& key) const override;
  [[nodiscard]] Result<void> put(const Key& key, std::span<const std::byte> encoded) const override;
  std::vector<std::string> compilers() const override;
  std::string records() const override;
  Nearest nearest(const Question& question) const override;
  [[nodiscard]] Result<void> record_compiler(std::string_view identity) const override;

 private:
  std::shared_ptr<const Layer> layer_;
  Patience patience_;
};

// Returns the layer itself if it is on a file system of this machine, which always answers.
std::shared_ptr<const Layer> patient(std::shared_ptr<const Layer> layer, std::chrono::milliseconds limit);

}  // namespace tma_jit::cache
