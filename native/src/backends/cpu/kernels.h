// What an instruction family provides: one table of kernels, each the work of one tile on one thread.
// Kernels touch no state but their arguments and never throw.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/ops.h"

namespace llmservice::cpu {

constexpr int kPanelRows = 64;    // outputs of a weight panel
constexpr int kDepthBlock = 128;  // K positions summed before their scale applies
constexpr int kSplit = 256;       // KV positions of one attention split, at fixed absolute positions
constexpr int kKeyStep = 272;     // row step of a split's transposed keys; at 256 rows would share cache sets
constexpr int kChunk = 64;        // positions of one chunk of the delta rule
constexpr int kStateColumns = 64;  // columns of S in one tile of the delta rule
constexpr int kMaxConvKernel = 8;
constexpr int kMaxAttentionRows = 128;  // (row, query head) pairs of one attention tile
// Up to as many pairs for each KV head, keys and values go from the cache to registers, anew for a few of
// them at a time. More share a split that is laid out once.
constexpr int kFewPairs = 8;

// Floats of scratch that multiply_panel wants: a widened K block and six rows of partial sums. multiply_pairs
// and multiply_fixed want less.
constexpr int64_t kPanelScratch = (kDepthBlock + 6) * kPanelRows;

// Columns of one output that lie side by side. Pairs are what dot-product instructions take as one lane, and
// lanes of floats take them apart with a shift; a last odd column has a zero beside it.
constexpr int64_t columns_together(DType held) {
  return held == DType::kBF16 || held == DType::kF8E4M3 ? 2 : 1;
}

// How a panel's columns come into registers: one by one, two in a word, or more, whose codes wait there.
enum class Held : uint8_t { kElements, kPairs, kWords };

// What activations are rounded to before they multiply a panel: kFixed, to 16 bits in fixed point.
enum class Activations : uint8_t { kFloat32, kBf16, kFixed };

// Which two columns meet in a lane of products of pairs: neighbours, as BF16 and FP8 lie, or, within each
// eight, columns i and i + 4, which lie 16 bits apart in a word of four-bit codes.
enum class PairOrder : uint8_t { kAdjacent, kFourApart };
constexpr int kPairOrders = 2;

// 64 outputs of a packed matrix: weights (depth, 64), of kBF16 and kF8E4M3 (ceil(depth / 2), 64, 2); scales
// null, (ceil(depth / 128), 64) or, for all depths, (64). Of four-bit codes, weights are (depth / 8, 64)
// words of eight columns. `shared` is what groups of columns share: kF4E2M1 (depth / 16, 64) e4m3 scales;
// block types as packed_blocks.h says.
struct PanelView {
  const std::byte* weights;
  const float* scales;
  int64_t scale_step;  // from one K block's scales to the next: 64, or 0
  const std::byte* shared;
  int64_t depth;
  DType dtype;
  Activations activations;
};

constexpr int kSumColumns = 16;                        // whose activations are added up
constexpr int kBlockSums = kDepthBlock / kSumColumns;  // of a row and K block

// Rows of activations in BF16 as products of pairs take them: (K blocks, rows, 128) in the order of a panel's
// pairs, zeros behind the last column, so that a block's rows lie one after the other.
struct PairRows {
  const uint16_t* data = nullptr;  // of the first row
  int64_t rows = 0;                // of a K block
  const float* sums = nullptr;     // (K blocks, rows, 8): of each 16 columns; for PairOrder::kFourApart

  const uint16_t* block(int64_t b) const { return data + b * rows * kDepthBlock; }
  const float* block_sums(int64_t b) const {
    return sums != nullptr ? sums + b * rows * kBlockSums : nullptr;
  }
  PairRows from(int64_t row) const {
    if (data == nullptr) return {};
    return {data + row * kDepthBlock, rows, sums != nullptr ? sums + row * kBlockSums : nullptr};
  }
};

// 128 activations of a row as whole multiples of `scale`, the largest magnitude / 32767, in pairs of
// PairOrder::kFourApart. NaN as scale: some are not finite.
struct alignas(32) FixedBlock {
  int16_t values[kDepthBlock];
  int32_t sums[kBlockSums];          // of each 16 columns
  float group_sums[kBlockSums / 2];  // of each 32
  float scale;
};

// Rows of activations in fixed point, (K blocks, rows).
struct FixedRows {
  const FixedBlock* data = nullptr;  // of the first row
  int64_t rows = 0;                  // of a K block

  const FixedBlock* block(int64_t b) const { return data + b * rows; }
  FixedRows from(int64_t row) const {
    if (data == nullptr) return {};
    return {data + row, rows};
  }
};

// Query rows of one segment against one KV head: rows × group pairs (position, query head).
struct AttentionTile {
  const AttentionShape* shape;
  const int32_t* blocks;  // block table
  int32_t position;       // of the first row
  int32_t rows;
  int32_t kv_head;
  int32_t kv_heads;  // from kv_head on: one, or of a single row several, whose blocks of the cache adjoin
  const float* q;    // first row, first query head of the group
  int64_t q_stride;
  const KvCache* cache;
  float* out;  // as q
  int64_t out_stride;
  float* scratch;                // attention_scratch floats
  float cap;                     // of scores; 0: none
  const float* sinks = nullptr;  // of the group's query heads, as in ScoreRules; null: none
  // Of the positions that rows see, but for the window's end; 0: each sees to its own.
  int32_t end = 0;
};
int64_t attention_scratch(const AttentionTile& tile);

// head_dim in whole vectors.
constexpr int64_t padded_dim(const AttentionShape& shape) { return (shape.head_dim + 15) / 16 * 16; }

// Softmax of a tile's pairs over some splits, not yet divided by its sum: M pairs, dim as padded_dim().
struct SplitSums {
  float* values;  // (M, dim): Σ exp(score - top) · V
  float* top;     // (M): the largest score
  float* total;   // (M): Σ exp(score - top)

  SplitSums(float* memory, int64_t m, int64_t dim)
      : values(memory), top(memory + m * dim), total(top + (m + 15) / 16 * 16) {}
  static constexpr int64_t floats(int64_t m, int64_t dim) { return m * dim + 2 * ((m + 15) / 16 * 16); }
};

// Splits of a tile that were computed apart, the first of them at position `begin`.
struct ComputedSplits {
  int32_t begin;
  int32_t count;
  float* sums;    // (count) SplitSums, one after the other
  float* merged;  // SplitSums of the splits before `begin`, then of these too
};

// Where the first split begins of which the row at `position` sees something.
inline int32_t first_split(const AttentionShape& shape, int32_t position) {
  return first_seen(shape, position) / kSplit * kSplit;
}

// Positions from a row's own to behind the last that it sees, but for the sequence's end.
inline int32_t reach(const AttentionTile& t) {
  if (t.end == 0) return 1;
  return t.shape->window > 0 ? t.shape->window : t.end;
}

// Behind the last position that the row at `position` sees.
inline int32_t seen_end(const AttentionTile& t, int32_t position) {
  const int32_t end = position + reach(t);
  return t.end > 0 && t.end < end ? t.end : end;
}
// Behind the last one that any row of the tile sees.
inline int32_t seen_end(const AttentionTile& t) { return seen_end(t, t.position + t.rows - 1); }

// Query heads of each row.
inline int32_t query_heads(const AttentionTile& t) { return t.shape->heads / t.shape->kv_heads * t.kv_heads; }

// Splits of which the tile's rows see something.
inline int32_t split_count(const AttentionTile& t) {
  return (seen_end(t) - first_split(*t.shape, t.position) + kSplit - 1) / kSplit;
}

// Depthwise causal convolution of up to 16 channels over the rows of one segment.
struct ConvTile {
  float* x;  // first row, first channel; in place
  int64_t stride;
  int32_t rows;
  int32_t channels;
  int32_t taps;
  const float* weight;  // (channels, taps)
  float* tail;          // (channels, taps - 1), oldest first
};

// Columns [0, columns) of S of one V head over the rows of one segment. q, k normalized: row strides in
// floats.
struct DeltaTile {
  const float* q;
  const float* k;
  int64_t qk_stride;
  const float* v;  // the tile's columns
  int64_t v_stride;
  const float* beta;       // sigmoid(b), (rows) with gate_stride
  const float* log_decay;  // g
  int64_t gate_stride;
  float* s;  // (k_dim, columns) with row stride s_stride
  int64_t s_stride;
  float* out;
  int64_t out_stride;
  int32_t rows;
  int32_t k_dim;
  int32_t columns;
  const float* gram;  // chunked form: per chunk K·Kᵀ (64, 64) then Q·Kᵀ (64, 64), chunks gram_stride apart
  int64_t gram_stride;
  float* scratch;  // delta_scratch floats
};
int64_t delta_scratch(int32_t k_dim);
int64_t gram_scratch(int32_t k_dim);

// Some rows of one pair, and of its outputs [column, column + columns).
struct LowRankTile {
  const LowRank* pair;
  const float* x;  // first row
  int64_t x_stride;
  float* shrunk;  // (rows, pair->width()): scale · x · Aᵀ
  int64_t rows;
  float* out;  // first row, first output of the weight matrix
  int64_t out_stride;
  int64_t column;
  int64_t columns;
};

struct Kernels {
  const char* isa;

  // total (rows, 64), zero on entry, += x (rows, depth) · panel.
  void (*multiply_panel)(const PanelView&, const float* x, int64_t x_stride, int rows, float* scratch,
                         float* total);
  // The same of a panel that takes BF16 activations; null where the family has no dot products of pairs.
  void (*multiply_pairs)(const PanelView&, const PairRows& x, int rows, float* scratch,
                         float* total) = nullptr;
  // out (128) = x (count), rounded to BF16, count <= 128; there with multiply_pairs. sums (8), or null.
  void (*round_block)(const float* x, int count, PairOrder order, uint16_t* out, float* sums) = nullptr;
  // The same as multiply_panel of a panel that takes activations in fixed point; null where the family has no
  // such products.
  void (*multiply_fixed)(const PanelView&, const FixedRows& x, int rows, float* scratch,
                         float* total) = nullptr;
  // x (128) in fixed point; there with multiply_fixed.
  void (*fix_block)(const float* x, FixedBlock* out) = nullptr;

  // Whether it has products that round activations.
  bool rounds() const { return multiply_pairs != nullptr || multiply_fixed != nullptr; }

  void (*rms_norm)(const float* x, const float* weight, float eps, int64_t dim, float* out);
  void (*layer_norm)(const float* x, const float* weight, float eps, int64_t dim, float* out);
  void (*gated_rms_norm)(const float* x, const float* z, const float* weight, float eps, int64_t dim,
                         float* out);
  void (*l2_normalize)(const float* x, int64_t dim, float scale, float* out);
  void (*add)(float* x, const float* y, int64_t count);
  bool (*all_finite)(const float* x, int64_t count);
  void (*add_scaled)(float* x, const float* y, float scale, int64_t count);
  void (*add_gated)(float* x, const float* y, float gate, int64_t count);
  void (*route_row)(const RoutingShape&, const float* logits, int32_t* ids, float* weights);
  // `logits` become their sigmoids.
  void (*route_row_by_sigmoid)(const RoutingShape&, const SigmoidRouting&, const float* correction,
                               float* logits, int32_t* ids, float* weights);
  void (*silu_mul)(const float* gate, const float* up, int64_t count, float* out);
  void (*sigmoid_mul)(float* x, const float* gate, int64_t count);
  void (*scale)(float* x, int64_t count, float factor);
  void (*gelu_mul)(const float* gate, const float* up, int64_t count, float* out);
  void (*erf_gelu_mul)(const float* gate, const float* up, int64_t count, float* out);
  void (*cap)(float* x, int64_t count, float limit);
  void (*clamped_swiglu)(const float* gate, const float* up, int64_t count, const ClampedSwiglu& form,
                         float* out);
  void (*rotate)(float* head, int64_t half, const float* cos, const float* sin);
  void (*attend)(const AttentionTile&);
  // The same in two parts: one split, that at position `begin`; and once the next splits are computed, taking
  // them in. What ends with the tile's last split writes `out`.
  void (*attend_split)(const AttentionTile&, int32_t begin, const SplitSums&);
  void (*merge_splits)(const AttentionTile&, const ComputedSplits&);
  void (*convolve)(const ConvTile&);
  // gram = K·Kᵀ, Q·Kᵀ of one chunk; q, k (64, k_dim) with row stride.
  void (*delta_gram)(const float* q, const float* k, int64_t stride, int32_t k_dim, float* gram,
                     float* scratch);
  void (*delta_chunks)(const DeltaTile&);     // rows a multiple of 64
  void (*delta_recurrent)(const DeltaTile&);  // any rows
  void (*shrink)(const LowRankTile&);
  void (*expand)(const LowRankTile&);  // out += shrunk · Bᵀ
};

const Kernels& portable_kernels();
const Kernels& avx2_kernels();
const Kernels& avx2_float32_kernels();  // that do not round activations
const Kernels& avx512_kernels();
const Kernels& avx512bf16_kernels();
const Kernels& amx_kernels();
// Those of amx with tiles as tile_model_avx512bf16.h has them: for tests, by name alone.
const Kernels& modelled_amx_kernels();
constexpr const char* kModelledAmx = "amx-model";
// The best table for "auto" or, of those that do not round activations, for "float32"; or a family's by its
// name. EngineError if this machine cannot run it.
const Kernels& select_kernels(const char* isa);

}  // namespace llmservice::cpu
