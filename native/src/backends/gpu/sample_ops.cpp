// Sampling: a batch of requests goes to the device in one piece.
#include "backends/gpu/backend.h"
#include "backends/gpu/kernels/sampling.h"

namespace llmservice::gpu {

void GpuBackend::sample(const SampleBatch& batch, const float* logits, int32_t vocab, SampleResult* results) {
  if (batch.requests.empty()) return;
  // In one piece, so that all of it is there when the launches run. The lists whose lengths change from step
  // to step stand last, so that where the others lie does not.
  sample_lists_.clear();
  const auto put = [&]<class T>(std::span<const T> list) {
    constexpr size_t kBorder = 16;
    const size_t offset = (sample_lists_.size() + kBorder - 1) / kBorder * kBorder;
    const auto bytes = std::as_bytes(list);
    sample_lists_.resize(offset);
    sample_lists_.insert(sample_lists_.end(), bytes.begin(), bytes.end());
    return offset;
  };
  const size_t requests = put(batch.requests);
  const size_t masks = put(batch.masks);
  const size_t biases = put(batch.biases);
  const size_t counts = put(batch.counts);
  const std::byte* const lists = staged(std::span<const std::byte>(sample_lists_));
  const auto at = [&]<class T>(std::span<const T> list, size_t offset) {
    return list.empty() ? nullptr : reinterpret_cast<const T*>(lists + offset);
  };
  const auto count = static_cast<int32_t>(batch.requests.size());
  const SampleTables tables{.logits = logits,
                            .vocab = vocab,
                            .requests = at(batch.requests, requests),
                            .count = count,
                            .masks = at(batch.masks, masks),
                            .biases = at(batch.biases, biases),
                            .counts = at(batch.counts, counts)};
  const SampleNeeds needs{.draws = batch.draws,
                          .edits = !batch.biases.empty() || !batch.counts.empty(),
                          .truncates = batch.truncates};
  add(gpu::sample(tables, needs, memory_of(sampling_, sample_workspace(vocab, count)), results), count);
}

}  // namespace llmservice::gpu
