// What the unmodified logits of a row say, and the adjusted logits of requests that edit some.
#include "backends/gpu/kernels/sample_passes.h"

namespace llmservice::gpu {
namespace {

constexpr int kEditThreads = 512;
constexpr int kGroupStep = kChunkThreads * 4 / kHashLanes;  // groups of lanes between a thread's loads

// The lanes' polynomials over this chunk, as if the row continued with zeros to the chunk's end. What lies
// beyond the last whole group belongs to no lane.
__device__ __forceinline__ void hash_chunk(const ChunkLogits& logits, int32_t vocab, uint32_t* lanes) {
  __shared__ uint32_t warps[kChunkThreads / kWarpSize][kHashLanes];
  const uint32_t step = hash_power(kHashFactor, kGroupStep);
  uint32_t hash[4] = {};
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const bool whole = ChunkLogits::place(i) < vocab / kHashLanes * kHashLanes;
#pragma unroll
    for (int k = 0; k < 4; ++k) hash[k] = hash[k] * step + (whole ? bits_of(logits.four[i].of[k]) : 0);
  }
  const uint32_t after = hash_power(kHashFactor, kGroupStep - 1 - threadIdx.x / 4);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    hash[k] *= after;
#pragma unroll
    for (int mask = 4; mask < kWarpSize; mask *= 2) hash[k] += shuffle_xor(hash[k], mask);
  }
  if (lane_id() < 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) warps[warp_id()][lane_id() * 4 + k] = hash[k];
  }
  sync_block();
  if (threadIdx.x >= kHashLanes) return;
  uint32_t sum = 0;
  for (int i = 0; i < kChunkThreads / kWarpSize; ++i) sum += warps[i][threadIdx.x];
  lanes[threadIdx.x] = sum;
}

// What the unmodified logits say, and the argmax of the adjusted ones where no edits are to come.
__global__ void __launch_bounds__(kChunkThreads) survey_kernel(SampleView view) {
  let_next_start();
  wait_for_previous();
  const SampleRequest& request = view.tables.requests[blockIdx.y];
  if (request.row < 0) return;
  const int32_t vocab = view.tables.vocab;
  const float* const row = view.tables.logits + int64_t{request.row} * vocab;
  ChunkLogits logits;
  logits.load(row, vocab);
  const float first = row[0];
  const float scored = request.scored >= 0 ? row[request.scored] : __builtin_huge_valf();
  uint64_t raw = 0;
  int32_t at_least = 0;
  uint32_t seen = 0;
  logits.each(vocab, [&](int32_t token, float logit) {
    raw = Larger()(raw, rank_of(logit, token));
    at_least += logit >= scored ? 1 : 0;
    seen |= (bits_of(logit) & 0x7f800000) == 0x7f800000 ? kBad : 0;
    seen |= logit != first ? kDiffers : 0;
  });
  raw = reduce_threads(raw, Larger());
  const float top = logit_of(raw);
  double sum = 0;
  logits.each(vocab, [&](int32_t, float logit) { sum += exp_nonpositive(unfused_add(logit, -top)); });
  sum = reduce_threads(sum, Plus());
  at_least = reduce_threads(at_least, Plus());
  seen = reduce_threads(seen, Either());
  ChunkSurvey& survey = view.surveys[int64_t{blockIdx.y} * view.chunks + blockIdx.x];
  hash_chunk(logits, vocab, survey.hash);

  uint64_t* const alternatives =
      view.alternatives + (int64_t{blockIdx.y} * view.chunks + blockIdx.x) * kMaxAlternatives;
  uint64_t last = kNoOrder;
  for (int32_t i = 0; i < request.top_logprobs; ++i) {
    uint64_t next = 0;
    logits.each(vocab, [&](int32_t token, float logit) {
      const uint64_t rank = rank_of(logit, token);
      if (rank < last && rank > next) next = rank;
    });
    last = reduce_threads(next, Larger());
    if (threadIdx.x == 0) alternatives[i] = last;
  }

  if (edits(request)) {
    float* const to = view.adjusted + blockIdx.y * adjusted_stride(vocab);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int32_t at = ChunkLogits::place(i);
      if (at < vocab) *reinterpret_cast<FourLogits*>(to + at) = logits.four[i];
    }
  }
  if (request.mask >= 0) {
    logits.forbid(view.tables.masks + int64_t{request.mask} * ((vocab + 31) / 32), vocab);
  }
  uint64_t best = 0;
  logits.each(vocab, [&](int32_t token, float logit) { best = Larger()(best, rank_of(logit, token)); });
  best = reduce_threads(best, Larger());
  if (threadIdx.x == 0) {
    survey.raw = raw;
    survey.best = best;
    survey.sum = sum;
    survey.at_least = at_least;
    survey.seen = seen;
  }
  if (blockIdx.x > 0 || !truncates(request)) return;
  Histogram& histogram = view.histograms[blockIdx.y];
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kChunkThreads) {
    histogram.mass[i] = 0;
    histogram.count[i] = 0;
  }
  if (threadIdx.x == 0) histogram.candidates = 0;
}

// Biases, then penalties, one block to a request: few tokens anywhere in the row.
__global__ void __launch_bounds__(kEditThreads) edit_kernel(SampleView view) {
  let_next_start();
  wait_for_previous();
  const SampleRequest& request = view.tables.requests[blockIdx.x];
  if (request.row < 0 || !edits(request)) return;
  float* const row = view.adjusted + blockIdx.x * adjusted_stride(view.tables.vocab);
  const TokenBias* const biases = view.tables.biases + request.biases.first;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < request.biases.count; i += kEditThreads) {
    row[biases[i].token] += biases[i].bias;
  }
  sync_block();
  const TokenCount* const counts = view.tables.counts + request.counts.first;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < request.counts.count; i += kEditThreads) {
    const auto [token, generated] = counts[i];
    float logit = row[token];
    logit = logit > 0 ? logit / request.repetition_penalty : unfused_mul(logit, request.repetition_penalty);
    if (generated > 0) {
      const float often = unfused_mul(request.frequency_penalty, static_cast<float>(generated));
      logit = unfused_add(logit, -unfused_add(request.presence_penalty, often));
    }
    row[token] = logit;
  }
}

// The argmax of each chunk of a row that was edited.
__global__ void __launch_bounds__(kChunkThreads) argmax_kernel(SampleView view) {
  let_next_start();
  wait_for_previous();
  const SampleRequest& request = view.tables.requests[blockIdx.y];
  if (request.row < 0 || !edits(request)) return;
  const AdjustedRow row(view, request, blockIdx.y);
  ChunkLogits logits;
  logits.load(row.logits, view.tables.vocab);
  logits.forbid(row.mask, view.tables.vocab);
  uint64_t best = 0;
  logits.each(view.tables.vocab,
              [&](int32_t token, float logit) { best = Larger()(best, rank_of(logit, token)); });
  best = reduce_threads(best, Larger());
  if (threadIdx.x == 0) view.surveys[int64_t{blockIdx.y} * view.chunks + blockIdx.x].best = best;
}

}  // namespace

Launch survey(const SampleView& view) {
  return make_launch("sample_survey", survey_kernel, chunk_grid(view), kChunkThreads, 0, view);
}

Launch edit(const SampleView& view) {
  return make_launch("sample_edit", edit_kernel, {static_cast<uint32_t>(view.tables.count)}, kEditThreads, 0,
                     view);
}

Launch edited_argmax(const SampleView& view) {
  return make_launch("sample_argmax", argmax_kernel, chunk_grid(view), kChunkThreads, 0, view);
}

}  // namespace llmservice::gpu
