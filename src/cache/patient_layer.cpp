#include "cache/patient_layer.h"

#include "core/failure.h"

namespace tma_jit::cache {

std::string no_answer(const std::string& name, std::chrono::milliseconds limit) {
  return fmt::format("cache folder {}: it did not answer within {:g} s, as a file server does that is away", name,
                     static_cast<double>(limit.count()) / 1000);
}

Lookup PatientLayer::get(const Key& key) const {
  auto found = patience_.within([layer = layer_, key] { return layer->get(key); });
  if (found) return *std::move(found);
  return {std::nullopt, MissReason::io, no_answer(name(), patience_.limit()), {}};
}

Result<void> PatientLayer::put(const Key& key, std::span<const std::byte> encoded) const {
  auto put = patience_.within([layer = layer_, key, bytes = std::vector<std::byte>(encoded.begin(), encoded.end())] {
    return layer->put(key, bytes);
  });
  if (put) return *std::move(put);
  return failure(ErrorCode::io, "{}", no_answer(name(), patience_.limit()));
}

std::vector<std::string> PatientLayer::compilers() const {
  return patience_.within([layer = layer_] { return layer->compilers(); }).value_or(std::vector<std::string>());
}

std::string PatientLayer::records() const {
  return patience_.within([layer = layer_] { return layer->records(); }).value_or(std::string());
}

// Returns an incomplete empty result if it takes too long.
Nearest PatientLayer::nearest(const Question& question) const {
  return patience_.within([layer = layer_, question] { return layer->nearest(question); })
      .value_or(Nearest{.entries = {}, .complete = false});
}

Result<void> PatientLayer::record_compiler(std::string_view identity) const {
  auto recorded =
      patience_.within([layer = layer_, identity = std::string(identity)] { return layer->record_compiler(identity); });
  if (recorded) return *std::move(recorded);
  return failure(ErrorCode::io, "{}", no_answer(name(), patience_.limit()));
}

std::shared_ptr<const Layer> patient(std::shared_ptr<const Layer> layer, std::chrono::milliseconds limit) {
  if (layer->local()) return layer;
  return std::make_shared<PatientLayer>(std::move(layer), limit);
}

}  // namespace tma_jit::cache
