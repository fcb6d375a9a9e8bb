// State rows of Gated DeltaNet, and its causal convolution. All of it moves memory and computes next to
// nothing.
#include <algorithm>
#include <string>

#include "backends/gpu/kernels/gdn_kernels.h"
#include "backends/gpu/kernels/vectors.h"

namespace llmservice::gpu {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int32_t kMaxTaps = 4;
// A block convolves so many rows; the inputs before them are set aside for it, since the convolution is in
// place and the block before may be ahead.
constexpr int kRows = 32;
constexpr int kBatch = 8;  // rows loaded at once

int64_t channels_of(const GdnShape& s) {
  return 2 * int64_t{s.k_heads} * s.k_dim + int64_t{s.v_heads} * s.v_dim;
}
int64_t tail_of(const GdnShape& s) { return channels_of(s) * (s.conv_kernel - 1); }
int64_t matrices_of(const GdnShape& s) { return int64_t{s.v_heads} * s.k_dim * s.v_dim; }

bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % sizeof(Float4) == 0; }

// Body(entry y of the list, first of kCount values of its row of (conv tail, S)).
template <int kCount, class Body>
__global__ void __launch_bounds__(kThreads) each_state_kernel(Body body, int64_t tail, int64_t matrices) {
  const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
  wait_for_previous();
  let_next_start();
  if (i < tail) {
    body(body.state.conv, tail, i);
  } else if (i < tail + matrices) {
    body(body.state.s, matrices, i - tail);
  }
}

template <int kCount>
struct Reset {
  GdnState state;
  const int32_t* slots;
  __device__ void operator()(float* base, int64_t width, int64_t i) const {
    store_floats(base + slots[blockIdx.y] * width + i, Floats<kCount>{});
  }
};

template <int kCount>
struct Copy {
  GdnState state;
  const StateCopy* copies;
  __device__ void operator()(float* base, int64_t width, int64_t i) const {
    const StateCopy copy = copies[blockIdx.y];
    store_floats(base + copy.to * width + i, load_floats<kCount>(base + copy.from * width + i));
  }
};

template <template <int> class Body, class List>
Launch each_state(const char* name, const GdnShape& shape, const List* list, int32_t count,
                  const GdnState& state) {
  const int64_t tail = tail_of(shape);
  const int64_t matrices = matrices_of(shape);
  const bool whole = tail % 4 == 0 && matrices % 4 == 0 && is_aligned(state.conv) && is_aligned(state.s);
  const int64_t vectors = (tail + matrices) / (whole ? 4 : 1);
  const Grid grid = {static_cast<uint32_t>((vectors + kThreads - 1) / kThreads),
                     static_cast<uint32_t>(count)};
  if (whole) {
    return make_launch(name, each_state_kernel<4, Body<4>>, grid, kThreads, 0, Body<4>{state, list}, tail,
                       matrices);
  }
  return make_launch(name, each_state_kernel<1, Body<1>>, grid, kThreads, 0, Body<1>{state, list}, tail,
                     matrices);
}

struct ConvArguments {
  const Segment* segments;
  const float* weight;  // (channels, taps)
  float* x;
  int64_t stride;
  int64_t channels;
  float* tails;      // (slots, channels, taps - 1)
  float* workspace;  // (2 runs of kRows rows, taps - 1, channels)
  int32_t segment_count;
  int32_t runs;

  // Inputs before the tile of `segment` that begins at `row`.
  __device__ float* before(int32_t row, bool is_first, int taps) const {
    return workspace + (int64_t{row / kRows} * 2 + (is_first ? 0 : 1)) * (taps - 1) * channels;
  }
};

// The tile of a block: the first tiles of the segments, then those further on.
__device__ __forceinline__ TilePlace tile_of_block(const ConvArguments& a) {
  const auto block = static_cast<int32_t>(blockIdx.y);
  if (block < a.segment_count) return {a.segments[block].first, block};
  return find_tile<kRows>(a.segments, a.segment_count, block - a.segment_count, 1, false);
}

template <int kTaps, int kCount>
__device__ __forceinline__ void load_tail(const float* tail, Floats<kCount> (&window)[kTaps - 1]) {
#pragma unroll
  for (int c = 0; c < kCount; ++c) {
#pragma unroll
    for (int j = 0; j < kTaps - 1; ++j) window[j].v[c] = tail[c * (kTaps - 1) + j];
  }
}

// Sets aside what the tiles of segments with several of them begin from.
template <int kTaps, int kCount>
__global__ void __launch_bounds__(kThreads) keep_inputs_kernel(ConvArguments a) {
  const int64_t c = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
  wait_for_previous();
  let_next_start();
  const TilePlace tile = tile_of_block(a);
  if (tile.row == kNoRow || c >= a.channels) return;
  const Segment segment = a.segments[tile.segment];
  if (segment.count <= kRows) return;
  const bool is_first = tile.row == segment.first;
  Floats<kCount> window[kTaps - 1];
  if (is_first) load_tail<kTaps>(a.tails + (segment.slot * a.channels + c) * (kTaps - 1), window);
#pragma unroll
  for (int j = 0; j < kTaps - 1; ++j) {
    if (!is_first) window[j] = load_floats<kCount>(a.x + (tile.row - (kTaps - 1) + j) * a.stride + c);
    store_floats(a.before(tile.row, is_first, kTaps) + j * a.channels + c, window[j]);
  }
}

template <int kTaps, int kCount>
__global__ void __launch_bounds__(kThreads) conv_kernel(ConvArguments a) {
  const int64_t c = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
  const bool is_there = c < a.channels;
  float weight[kCount][kTaps];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int j = 0; j < kTaps; ++j) weight[i][j] = is_there ? a.weight[(c + i) * kTaps + j] : 0.0f;
  }
  wait_for_previous();
  let_next_start();
  const TilePlace tile = tile_of_block(a);
  if (tile.row == kNoRow || !is_there) return;
  const Segment segment = a.segments[tile.segment];
  float* const tail = a.tails + (segment.slot * a.channels + c) * (kTaps - 1);
  Floats<kCount> window[kTaps - 1];  // the inputs before the present one, oldest first
  if (segment.count <= kRows) {
    load_tail<kTaps>(tail, window);
  } else {
#pragma unroll
    for (int j = 0; j < kTaps - 1; ++j) {
      window[j] =
          load_floats<kCount>(a.before(tile.row, tile.row == segment.first, kTaps) + j * a.channels + c);
    }
  }
  const int32_t left = segment.first + segment.count - tile.row;
  const int32_t rows = left < kRows ? left : kRows;
  // The row that no input of the tail comes after; it may lie before this tile or behind it.
  const int32_t last_kept = left - segment.drafts - 1;
  const auto keep_tail = [&] {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
#pragma unroll
      for (int j = 0; j < kTaps - 1; ++j) tail[i * (kTaps - 1) + j] = window[j].v[i];
    }
  };
  // The tail of a segment of which nothing counts stays as it is, and so does one kept by the tile before.
  for (int32_t first = 0; first < rows; first += kBatch) {
    float* const x = a.x + (tile.row + first) * a.stride + c;
    Floats<kCount> inputs[kBatch];
#pragma unroll
    for (int r = 0; r < kBatch; ++r) {
      if (first + r < rows) inputs[r] = load_floats<kCount>(x + r * a.stride);
    }
#pragma unroll
    for (int r = 0; r < kBatch; ++r) {
      if (first + r >= rows) break;
      Floats<kCount> out;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        float sum = weight[i][kTaps - 1] * inputs[r].v[i];
#pragma unroll
        for (int j = kTaps - 2; j >= 0; --j) sum = fmaf(weight[i][j], window[j].v[i], sum);
        out.v[i] = sum / (1.0f + expf(-sum));
      }
      store_floats(x + r * a.stride, out);
#pragma unroll
      for (int j = 0; j < kTaps - 2; ++j) window[j] = window[j + 1];
      window[kTaps - 2] = inputs[r];
      if (first + r == last_kept) keep_tail();
    }
  }
}

template <int kTaps, int kCount>
Launches convolve(const ConvArguments& a, int32_t max_rows) {
  const auto across = static_cast<uint32_t>((a.channels + kThreads * kCount - 1) / (kThreads * kCount));
  const bool has_tiles = max_rows > kRows;
  const Grid grid = {across, static_cast<uint32_t>(a.segment_count + (has_tiles ? a.runs : 0))};
  Launches launches;
  if (has_tiles) {
    launches.push_back(
        make_launch("gdn_keep_inputs", keep_inputs_kernel<kTaps, kCount>, grid, kThreads, 0, a));
  }
  launches.push_back(make_launch("gdn_conv", conv_kernel<kTaps, kCount>, grid, kThreads, 0, a));
  return launches;
}

template <int kCount>
Launches convolve(const ConvArguments& a, int32_t max_rows, int32_t taps) {
  if (taps == 2) return convolve<2, kCount>(a, max_rows);
  if (taps == 3) return convolve<3, kCount>(a, max_rows);
  return convolve<4, kCount>(a, max_rows);
}

}  // namespace

Launch gdn_reset(const GdnShape& shape, const int32_t* slots, int32_t count, const GdnState& state) {
  return each_state<Reset>("gdn_reset", shape, slots, count, state);
}

Launch gdn_copy(const GdnShape& shape, const StateCopy* copies, int32_t count, const GdnState& state) {
  return each_state<Copy>("gdn_copy", shape, copies, count, state);
}

int64_t gdn_conv_workspace(const GdnShape& shape, int64_t rows) {
  return (rows + kRows - 1) / kRows * 2 * tail_of(shape);
}

Launches gdn_conv(const GdnShape& shape, const StepSegments& step, int64_t rows, const float* weight,
                  float* qkv, int64_t stride, const GdnState& state, float* workspace) {
  if (shape.conv_kernel < 2 || shape.conv_kernel > kMaxTaps) {
    throw EngineError(FailureReason::kUnsupportedArchitecture,
                      "A convolution over " + std::to_string(shape.conv_kernel) +
                          " positions is not supported: 2 to " + std::to_string(kMaxTaps) + " are.");
  }
  const ConvArguments a = {.segments = step.segments,
                           .weight = weight,
                           .x = qkv,
                           .stride = stride,
                           .channels = channels_of(shape),
                           .tails = state.conv,
                           .workspace = workspace,
                           .segment_count = step.count,
                           .runs = static_cast<int32_t>((rows + kRows - 1) / kRows)};
  const bool whole = a.channels % 4 == 0 && stride % 4 == 0 && is_aligned(qkv) && is_aligned(workspace);
  return whole ? convolve<4>(a, step.max_rows, shape.conv_kernel)
               : convolve<1>(a, step.max_rows, shape.conv_kernel);
}

}  // namespace llmservice::gpu
