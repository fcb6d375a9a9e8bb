// The end of sampling: one block to a request puts its chunks together, cuts the candidates and draws.
#include "backends/gpu/kernels/sample_passes.h"

namespace llmservice::gpu {
namespace {

constexpr int kThreads = 512;
constexpr uint32_t inverse_of(uint32_t odd) {
  uint32_t inverse = odd;  // right in three bits, and in twice as many after each round
  for (int i = 0; i < 4; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

constexpr uint32_t kHashInverse = inverse_of(kHashFactor);
static_assert(kHashInverse * kHashFactor == 1);

// engine/logit_hash.cpp, from the chunks' lanes. What it returns means something to thread 0.
__device__ __forceinline__ uint64_t hash_row(const SampleView& view, uint32_t index, const float* row) {
  __shared__ uint32_t lanes[kHashLanes];
  constexpr uint32_t kGroups = kChunk / kHashLanes;
  const ChunkSurvey* const surveys = view.surveys + int64_t{index} * view.chunks;
  const auto vocab = static_cast<uint32_t>(view.tables.vocab);
  const auto chunks = static_cast<uint32_t>(view.chunks);
  if (threadIdx.x < kHashLanes) lanes[threadIdx.x] = 0;
  sync_block();
  const uint32_t lane = threadIdx.x % kHashLanes;
  for (uint32_t i = threadIdx.x / kHashLanes; i < chunks; i += kThreads / kHashLanes) {
    add_to(&lanes[lane], surveys[i].hash[lane] * hash_power(kHashFactor, kGroups * (chunks - 1 - i)));
  }
  sync_block();
  if (threadIdx.x > 0) return 0;
  // The zeros that the last chunk was filled up with.
  const uint32_t unfilled = hash_power(kHashInverse, chunks * kGroups - vocab / kHashLanes);
  uint64_t hash = vocab;
  for (uint32_t i = vocab / kHashLanes * kHashLanes; i < vocab; ++i) hash = hash * kGolden + bits_of(row[i]);
  for (int i = 0; i < kHashLanes; ++i) hash = hash * kGolden + lanes[i] * unfilled;
  return hash;
}

// Logprobs under the unmodified logits.
__device__ __forceinline__ void report(const SampleView& view, const SampleRequest& request,
                                       const RowSurvey& all, uint32_t index, int32_t token,
                                       SampleResult& result) {
  const ChunkSurvey* const surveys = view.surveys + int64_t{index} * view.chunks;
  const float top = logit_of(all.raw);
  double sum = 0;
  int32_t at_least = 0;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < view.chunks; i += kThreads) {
    sum += surveys[i].sum * exp(static_cast<double>(logit_of(surveys[i].raw)) - top);
    at_least += surveys[i].at_least;
  }
  const double normalizer = top + log(reduce_threads(sum, Plus()));
  at_least = reduce_threads(at_least, Plus());
  const float logit = view.tables.logits[int64_t{request.row} * view.tables.vocab + token];
  const uint64_t* const ranks = view.alternatives + int64_t{index} * view.chunks * kMaxAlternatives;
  uint64_t last = kNoOrder;
  int32_t alternatives = 0;
  for (; alternatives < request.top_logprobs && alternatives < view.tables.vocab; ++alternatives) {
    uint64_t next = 0;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < view.chunks * request.top_logprobs;
         i += kThreads) {
      const uint64_t rank = ranks[i / request.top_logprobs * kMaxAlternatives + i % request.top_logprobs];
      if (rank < last && rank > next) next = rank;
    }
    last = reduce_threads(next, Larger());
    if (threadIdx.x == 0) {
      result.top_tokens[alternatives] = token_of(last);
      result.top_logprobs[alternatives] = static_cast<float>(logit_of(last) - normalizer);
    }
  }
  if (threadIdx.x > 0) return;
  result.logprob = static_cast<float>(logit - normalizer);
  result.rank = at_least;
  result.alternatives = alternatives;
}

// Draws among the candidates that top-k, then top-p, then typical-p leave, as engine/truncation.cpp.
__device__ __forceinline__ int32_t draw_truncated(const SampleView& view, const SampleRequest& request,
                                                  uint32_t index, float top) {
  __shared__ Digits digits;
  const int32_t* const list = view.candidates + int64_t{index} * view.tables.vocab;
  const auto count = static_cast<int32_t>(view.histograms[index].candidates);
  const AdjustedRow row(view, request, index);
  const auto weight_at = [&](int32_t i) { return weight_of(row[list[i]], top, request.inverse_temperature); };
  const auto order_at = [&](int32_t i, float weight) { return order_of(weight_order(weight), list[i]); };

  uint64_t last = kNoOrder - 1;
  const auto sum_kept = [&](const auto& part) {
    uint64_t sum = 0;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += kThreads) {
      const float weight = weight_at(i);
      if (order_at(i, weight) <= last) sum += part(weight);
    }
    return reduce_threads(sum, Plus());
  };
  if (request.top_k > 0 && request.top_k < count) {
    last = last_kept<kThreads>(
        count,
        [&](int32_t i) {
          return Ordered{order_at(i, weight_at(i)), 1};
        },
        static_cast<uint64_t>(request.top_k), digits);
  }
  if (request.top_p < 1) {
    uint64_t total = 0;
    if (request.top_k > 0) {
      total = sum_kept([](float weight) { return mass_of(weight); });
    } else {
      for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads) {
        total += view.histograms[index].mass[i];
      }
      total = reduce_threads(total, Plus());
    }
    const uint64_t before = last;
    const uint64_t reached = last_kept<kThreads>(
        count,
        [&](int32_t i) {
          const float weight = weight_at(i);
          const uint64_t order = order_at(i, weight);
          return order <= before ? Ordered{order, mass_of(weight)} : Ordered{kNoOrder, 0};
        },
        wanted_of(total, request.top_p), digits);
    // It may lie beyond what top-k left.
    last = Smaller()(before, reached);
  }

  int64_t expected = 0;
  uint64_t last_typical = kNoOrder - 1;
  const auto typical_order = [&](int32_t i, float weight) {
    const int64_t distance = static_cast<int64_t>(surprise_of(weight)) - expected;
    return order_of(static_cast<uint64_t>(distance < 0 ? -distance : distance), list[i]);
  };
  if (request.typical_p < 1) {
    const uint64_t total = sum_kept([](float weight) { return mass_of(weight); });
    const uint64_t moment =
        sum_kept([](float weight) { return (mass_of(weight) * surprise_of(weight)) >> kSurpriseBits; });
    expected =
        static_cast<int64_t>(unfused_mul(static_cast<double>(moment) / static_cast<double>(total), 0x1p24));
    last_typical = last_kept<kThreads>(
        count,
        [&](int32_t i) {
          const float weight = weight_at(i);
          if (order_at(i, weight) > last) return Ordered{kNoOrder, 0};
          return Ordered{typical_order(i, weight), mass_of(weight)};
        },
        wanted_of(total, request.typical_p), digits);
  }

  Race race{request.noise_key};
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += kThreads) {
    const float weight = weight_at(i);
    if (order_at(i, weight) > last) continue;
    if (request.typical_p < 1 && typical_order(i, weight) > last_typical) continue;
    race.enter(list[i], weight);
  }
  race.finish();
  return race.winner;
}

__global__ void __launch_bounds__(kThreads) choose_kernel(SampleView view, SampleResult* results) {
  let_next_start();
  wait_for_previous();
  const uint32_t index = blockIdx.x;
  const SampleRequest& request = view.tables.requests[index];
  if (request.row < 0) return;
  SampleResult& result = results[index];
  const RowSurvey all(view, index);
  const uint64_t hash = hash_row(view, index, view.tables.logits + int64_t{request.row} * view.tables.vocab);
  if (threadIdx.x == 0) {
    result.status = all.status;
    result.hash = hash;
  }
  if (all.status != SampleStatus::kDrawn) return;
  int32_t token = request.scored >= 0 ? request.scored : token_of(all.best);
  if (draws(request)) {
    if (truncates(request)) {
      token = draw_truncated(view, request, index, logit_of(all.best));
    } else {
      const ChunkSurvey* const surveys = view.surveys + int64_t{index} * view.chunks;
      Race race{request.noise_key};
      for (int32_t i = static_cast<int32_t>(threadIdx.x); i < view.chunks; i += kThreads) {
        if (surveys[i].time < race.best) {  // ids ascend: of equal times the first stays
          race.best = surveys[i].time;
          race.winner = surveys[i].winner;
        }
      }
      race.finish();
      token = race.winner;
    }
  }
  if (threadIdx.x == 0) result.token = token;
  report(view, request, all, index, token, result);
}

}  // namespace

Launch choose(const SampleView& view, SampleResult* results) {
  return make_launch("sample_choose", choose_kernel, {static_cast<uint32_t>(view.tables.count)}, kThreads, 0,
                     view, results);
}

}  // namespace llmservice::gpu
