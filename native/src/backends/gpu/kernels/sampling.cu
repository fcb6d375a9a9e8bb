// The passes over whole rows, a block to a chunk of one: each reads a row once, from L2 where the head has
// just written it. Bound by memory for many rows, by the launches for few.
#include "backends/gpu/kernels/sample_passes.h"
#include "backends/gpu/kernels/sampling.h"

namespace llmservice::gpu {
namespace {

// Without truncation, the winner of each chunk; else the histogram of the row's weights.
__global__ void __launch_bounds__(kChunkThreads) weigh_kernel(SampleView view) {
  // A chunk's masses of a bin, in two parts that cannot overflow.
  __shared__ uint32_t low[kBins];
  __shared__ uint32_t high[kBins];
  __shared__ uint32_t count[kBins];
  constexpr int kLowBits = 20;
  static_assert(kLowBits <= 32 - 12 && kMassBits - kLowBits < 32 - 12 && kChunk == 1 << 12);
  let_next_start();
  wait_for_previous();
  const SampleRequest& request = view.tables.requests[blockIdx.y];
  if (!draws(request)) return;
  const RowSurvey all(view, blockIdx.y);
  if (all.status != SampleStatus::kDrawn) return;
  const int32_t vocab = view.tables.vocab;
  const AdjustedRow row(view, request, blockIdx.y);
  ChunkLogits logits;
  logits.load(row.logits, vocab);
  logits.forbid(row.mask, vocab);
  const float top = logit_of(all.best);
  if (!truncates(request)) {
    Race race{request.noise_key};
    logits.each(vocab, [&](int32_t token, float logit) {
      race.enter(token, weight_of(logit, top, request.inverse_temperature));
    });
    race.finish();
    ChunkSurvey& survey = view.surveys[int64_t{blockIdx.y} * view.chunks + blockIdx.x];
    if (threadIdx.x == 0) {
      survey.time = race.best;
      survey.winner = race.winner;
    }
    return;
  }
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kChunkThreads) low[i] = high[i] = count[i] = 0;
  sync_block();
  logits.each(vocab, [&](int32_t, float logit) {
    const float weight = weight_of(logit, top, request.inverse_temperature);
    if (!(weight >= request.min_weight)) return;
    const uint32_t bin = weight_order(weight) >> kBinShift;
    const uint64_t mass = mass_of(weight);
    add_to(&count[bin], 1u);
    add_to(&low[bin], static_cast<uint32_t>(mass) & ((1u << kLowBits) - 1));
    add_to(&high[bin], static_cast<uint32_t>(mass >> kLowBits));
  });
  sync_block();
  Histogram& histogram = view.histograms[blockIdx.y];
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kChunkThreads) {
    if (count[i] == 0) continue;
    add_to(&histogram.count[i], count[i]);
    add_to(&histogram.mass[i], (static_cast<uint64_t>(high[i]) << kLowBits) + low[i]);
  }
}

// The last bin that can hold a kept token. All threads of a block call it.
__device__ __forceinline__ uint32_t last_bin(const SampleRequest& request, const Histogram& histogram) {
  constexpr int kEach = kBins / kChunkThreads;
  if (request.top_k == 0 && request.top_p >= 1) return kBins - 1;
  uint64_t bins[kEach];
  uint64_t total = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int bin = static_cast<int>(threadIdx.x) * kEach + i;
    bins[i] = request.top_k > 0 ? histogram.count[bin] : histogram.mass[bin];
    total += bins[i];
  }
  total = reduce_threads(total, Plus());
  const uint64_t wanted =
      request.top_k > 0 ? static_cast<uint64_t>(request.top_k) : wanted_of(total, request.top_p);
  return wanted > total ? kBins - 1 : find_crossing(bins, wanted).bin;
}

// Lists the tokens down to the last bin, so that one block can continue with them.
__global__ void __launch_bounds__(kChunkThreads) collect_kernel(SampleView view) {
  __shared__ uint32_t block_count;
  __shared__ uint32_t list_first;
  let_next_start();
  wait_for_previous();
  const SampleRequest& request = view.tables.requests[blockIdx.y];
  if (!draws(request) || !truncates(request)) return;
  const RowSurvey all(view, blockIdx.y);
  if (all.status != SampleStatus::kDrawn) return;
  Histogram& histogram = view.histograms[blockIdx.y];
  const uint32_t last = last_bin(request, histogram);
  const int32_t vocab = view.tables.vocab;
  const AdjustedRow row(view, request, blockIdx.y);
  ChunkLogits logits;
  logits.load(row.logits, vocab);
  logits.forbid(row.mask, vocab);
  const float top = logit_of(all.best);
  uint32_t listed = 0;  // a bit for each of this thread's logits
  uint32_t mine = 0;
  uint32_t bit = 1;
  logits.each(vocab, [&](int32_t, float logit) {
    const float weight = weight_of(logit, top, request.inverse_temperature);
    const bool in = weight >= request.min_weight && weight_order(weight) >> kBinShift <= last;
    listed |= in ? bit : 0;
    mine += in ? 1 : 0;
    bit <<= 1;
  });
  if (threadIdx.x == 0) block_count = 0;
  sync_block();
  uint32_t at = mine > 0 ? add_to(&block_count, mine) : 0;
  sync_block();
  if (threadIdx.x == 0) list_first = block_count > 0 ? add_to(&histogram.candidates, block_count) : 0;
  sync_block();
  at += list_first;
  int32_t* const list = view.candidates + int64_t{blockIdx.y} * vocab;
  logits.each(vocab, [&](int32_t token, float) {
    if ((listed & 1) != 0) list[at++] = token;
    listed >>= 1;
  });
}

struct Layout {
  int64_t surveys = 0;
  int64_t alternatives = 0;
  int64_t histograms = 0;
  int64_t adjusted = 0;
  int64_t candidates = 0;
  int64_t end = 0;
};

int32_t chunks_of(int32_t vocab) { return (vocab + kChunk - 1) / kChunk; }

Layout layout_of(int32_t vocab, int32_t count) {
  Layout layout;
  const auto put = [&](int64_t bytes) {
    const int64_t at = layout.end;
    layout.end = (at + bytes + 255) / 256 * 256;
    return at;
  };
  const int64_t chunks = int64_t{count} * chunks_of(vocab);
  layout.surveys = put(chunks * static_cast<int64_t>(sizeof(ChunkSurvey)));
  layout.alternatives = put(chunks * kMaxAlternatives * static_cast<int64_t>(sizeof(uint64_t)));
  layout.histograms = put(count * static_cast<int64_t>(sizeof(Histogram)));
  layout.adjusted = put(count * adjusted_stride(vocab) * static_cast<int64_t>(sizeof(float)));
  layout.candidates = put(int64_t{count} * vocab * static_cast<int64_t>(sizeof(int32_t)));
  return layout;
}

}  // namespace

int64_t sample_workspace(int32_t vocab, int32_t count) { return layout_of(vocab, count).end; }

Launches sample(const SampleTables& tables, const SampleNeeds& needs, std::byte* workspace,
                SampleResult* results) {
  const Layout layout = layout_of(tables.vocab, tables.count);
  const SampleView view{.tables = tables,
                        .chunks = chunks_of(tables.vocab),
                        .surveys = reinterpret_cast<ChunkSurvey*>(workspace + layout.surveys),
                        .alternatives = reinterpret_cast<uint64_t*>(workspace + layout.alternatives),
                        .histograms = reinterpret_cast<Histogram*>(workspace + layout.histograms),
                        .adjusted = reinterpret_cast<float*>(workspace + layout.adjusted),
                        .candidates = reinterpret_cast<int32_t*>(workspace + layout.candidates)};
  const Grid chunks = chunk_grid(view);
  Launches launches;
  launches.push_back(survey(view));
  if (needs.edits) {
    launches.push_back(edit(view));
    launches.push_back(edited_argmax(view));
  }
  if (needs.draws)
    launches.push_back(make_launch("sample_weigh", weigh_kernel, chunks, kChunkThreads, 0, view));
  if (needs.truncates) {
    launches.push_back(make_launch("sample_collect", collect_kernel, chunks, kChunkThreads, 0, view));
  }
  launches.push_back(choose(view, results));
  return launches;
}

}  // namespace llmservice::gpu
