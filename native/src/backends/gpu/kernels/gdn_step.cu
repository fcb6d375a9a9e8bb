// A layer's single positions in one launch: the convolution, the gated delta rule, the norm, and the
// quantization of what the product behind reads. Heads of 128 keys and values, convolutions over four
// positions. The same bits as by the launches of its own that each has.
#include "backends/gpu/kernels/gdn.h"
#include "backends/gpu/kernels/gdn_recurrent.h"
#include "backends/gpu/kernels/quantize_record.h"
#include "backends/gpu/vendor/finish_reads.h"

namespace llmservice::gpu {
namespace {

using namespace recurrent;

constexpr int kTaps = 4;
constexpr int kChannels = 2 * kGdnDepth + kColumns;  // of a block: q, k and v of its head
constexpr int kAtOnce = 4;                           // rows whose inputs a thread loads at once
static_assert(kChannels <= kThreads && kBatch % kAtOnce == 0);

struct Convolution {
  const float* weight;  // (channels, kTaps)
  float* tails;         // (slots, channels, kTaps - 1)
  // (segments, k_heads): blocks that have read the tails of keys, which those of one K head share. Zero
  // between launches.
  int32_t* readers;
};

// One channel of a segment, a thread each.
struct Channel {
  const float* x;  // of the segment's first row
  int64_t stride;
  float* tail;

  // Of row r of the segment; those before it are in the tail.
  __device__ __forceinline__ float input(int32_t r) const {
    return r < 0 ? tail[kTaps - 1 + r] : x[r * stride];
  }
  // The tail behind the first `kept` rows.
  __device__ __forceinline__ void keep(int32_t kept) const {
    float inputs[kTaps - 1];
#pragma unroll
    for (int j = 0; j < kTaps - 1; ++j) inputs[j] = input(kept - (kTaps - 1) + j);
#pragma unroll
    for (int j = 0; j < kTaps - 1; ++j) tail[j] = inputs[j];
  }
};

struct Head {
  const GdnArguments& a;
  const Segment& segment;
  int v_head;
  int k_head;

  // Of the row of q, k and v: where the block's channel `of` lies.
  __device__ __forceinline__ int32_t channel(int of) const {
    const int head = of < kGdnDepth       ? k_head
                     : of < 2 * kGdnDepth ? a.k_heads + k_head
                                          : 2 * a.k_heads + v_head;
    return head * kGdnDepth + of % kGdnDepth;
  }
  __device__ __forceinline__ Channel at(const Convolution& conv, int of) const {
    const int32_t c = channel(of);
    const int64_t channels = (2 * int64_t{a.k_heads} + a.v_heads) * kGdnDepth;
    return {a.qkv + segment.first * a.qkv_stride + c, a.qkv_stride,
            conv.tails + (segment.slot * channels + c) * (kTaps - 1)};
  }
};

// Rows `first` and following, convolved, into shared memory. A thread has one channel. As gdn_conv.cu adds.
__device__ __forceinline__ void convolve(const Head& head, const Convolution& conv, int32_t first,
                                         int32_t rows, Shared& shared) {
  const auto of = static_cast<int>(threadIdx.x);
  if (of >= kChannels) return;
  const Channel channel = head.at(conv, of);
  const Float4 weight = load_floats<kTaps>(conv.weight + int64_t{head.channel(of)} * kTaps);
  float* const to = (of < kGdnDepth       ? shared.q[0]
                     : of < 2 * kGdnDepth ? shared.k[0]
                                          : shared.v[0]) +
                    of % kGdnDepth;
  float window[kTaps - 1];
#pragma unroll
  for (int j = 0; j < kTaps - 1; ++j) window[j] = channel.input(first - (kTaps - 1) + j);
#pragma unroll 1
  for (int32_t begin = 0; begin < rows; begin += kAtOnce) {
    float inputs[kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) inputs[r] = begin + r < rows ? channel.input(first + begin + r) : 0.0f;
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      float sum = weight.v[kTaps - 1] * inputs[r];
#pragma unroll
      for (int j = kTaps - 2; j >= 0; --j) sum = fmaf(weight.v[j], window[j], sum);
      to[(begin + r) * kGdnDepth] = sum / (1.0f + expf(-sum));
#pragma unroll
      for (int j = 0; j < kTaps - 2; ++j) window[j] = window[j + 1];
      window[kTaps - 2] = inputs[r];
    }
  }
}

// Whether all other blocks have read the tails of this one's keys, as it has: one thread.
__device__ __forceinline__ bool is_last_reader(const Head& head, const Convolution& conv) {
  int32_t* const readers = conv.readers + blockIdx.z * head.a.k_heads + head.k_head;
  finish_reads();
  const bool is_last = count_up(readers) + 1 == head.a.v_heads / head.a.k_heads;
  if (is_last) *readers = 0;
  return is_last;
}

// Of values by the block that has the head, of keys by the last of the blocks that read them.
__device__ __forceinline__ void keep_tails(const Head& head, const Convolution& conv, bool of_keys) {
  const int32_t kept = head.segment.count - head.segment.drafts;
  if (kept <= 0) return;  // of what does not count the tail knows nothing
  const auto of = static_cast<int>(threadIdx.x);
  const bool is_key = of < 2 * kGdnDepth;
  if (of < kChannels && (!is_key || of_keys)) head.at(conv, of).keep(kept);
}

// Where no product reads the output.
struct NoRecord {
  __device__ __forceinline__ void write(int64_t, int, float*) const {}
};

// A head's columns are those that share a scale. One warp.
template <DType dtype>
struct HeadRecord {
  Records to;

  __device__ __forceinline__ void write(int64_t row, int v_head, const float* values) const {
    constexpr int kLanes = kColumns / 4;
    const bool within = lane_id() < kLanes;
    const uint32_t quad = static_cast<uint32_t>(v_head * kLanes + lane_id() % kLanes);
    write_record<dtype>(to, static_cast<uint32_t>(row), quad, within,
                        within ? load_floats<4>(values + lane_id() * 4) : Float4{});
  }
};

// Grid (v_heads, 1, segments).
template <class Record>
__global__ void __launch_bounds__(kThreads, 2)
    step_kernel(GdnArguments a, Convolution conv, Record record, int32_t settled) {
  __shared__ int is_last;
  Shared& shared = *dynamic_shared<Shared>();
  const Segment segment = a.segments[blockIdx.z];
  const auto v_head = static_cast<int>(blockIdx.x);
  const Head head{a, segment, v_head, a.k_head_of(v_head)};
  run_rows<true>(
      a, segment, 0, v_head, 0, settled != 0, shared,
      [&](int32_t first, int32_t rows) {
        convolve(head, conv, first, rows, shared);
        sync_block();
        // Rows further on have all of their inputs in the step. The result is here long before it is needed.
        if (first == 0 && threadIdx.x == kThreads - 1) is_last = is_last_reader(head, conv) ? 1 : 0;
        for (int i = warp_id(); i < rows; i += kWarps) {
          norm_keys(a, shared.q[i], shared.k[i], i, shared);
          if (lane_id() == 0) load_gates(a, segment.first + first + i, v_head, i, shared);
        }
      },
      [&](int64_t row, int slot) {
        float* const values = shared.out[slot];
        write_output(a, row, v_head, 0, values, values);
        sync_warp();
        record.write(row, v_head, values);
      });
  keep_tails(head, conv, is_last != 0);
}

template <class Record>
Launch launch(const GdnArguments& a, const Convolution& conv, const Record& record, bool settled) {
  const Grid grid = {static_cast<uint32_t>(a.v_heads), 1, static_cast<uint32_t>(a.segment_count)};
  return make_launch("gdn_step", step_kernel<Record>, grid, kThreads, sizeof(Shared), a, conv, record,
                     settled ? 1 : 0);
}

template <DType dtype>
Launch launch(const GdnArguments& a, const Convolution& conv, const Activations& to, bool settled) {
  return launch(a, conv, HeadRecord<dtype>{records_of(to)}, settled);
}

}  // namespace

Launch gdn_step_rows(const GdnArguments& a, const GdnConvolution& of, const Activations* to) {
  const Convolution conv{of.weight, of.tails, of.readers};
  if (to == nullptr) return launch(a, conv, NoRecord{}, of.settled);
  const DType dtype = to->layout.dtype;
  if (dtype == DType::kF8E4M3) return launch<DType::kF8E4M3>(a, conv, *to, of.settled);
  if (dtype == DType::kBF16) return launch<DType::kBF16>(a, conv, *to, of.settled);
  if (dtype == DType::kF16) return launch<DType::kF16>(a, conv, *to, of.settled);
  return launch<DType::kI8>(a, conv, *to, of.settled);
}

}  // namespace llmservice::gpu
