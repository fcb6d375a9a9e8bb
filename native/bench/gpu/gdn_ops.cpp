// Gated DeltaNet of one layer, convolution included: rows that decode, one after the other, and prompts in
// chunks.
#include <bit>

#include "backends/gpu/kernels/gdn.h"
#include "op_case.h"
#include "random_memory.h"

namespace llmservice::bench {
namespace {

constexpr int32_t kConvKernel = 4;
constexpr int32_t kChunk = 64;

struct Load {
  const char* name;
  int32_t sequences;
  int32_t rows;  // of each
  bool chunked;
};

// Of the products for one row of one V head, keys and values D wide: S'k, S'q and the update of S in decode;
// in chunks of C two products of C × D with keys and queries, the triangular solution over C and its two
// products, three with S and one with the scores (the formulas of gdn() in ops/ops.h, as engine.md's sources
// write them).
double flops_of_row(double d, bool chunked) {
  if (!chunked) return 2 * 3 * d * d;
  return 2 * (2 * kChunk * d + kChunk * kChunk / 3.0 + 2 * kChunk * d + 3 * d * d + kChunk * d);
}

void visit_load(gpu::Device& device, const OpSizes& sizes, const Load& load, const OpVisitor& visit) {
  const QwenSizes& m = sizes.model;
  const auto dim = static_cast<int32_t>(m.gdn_dim);
  const GdnShape shape = {static_cast<int32_t>(m.k_heads), static_cast<int32_t>(m.v_heads), dim, dim,
                          kConvKernel};
  const int64_t rows = int64_t{load.sequences} * load.rows;
  const int64_t state_floats = load.sequences * m.v_width() * m.gdn_dim;
  const int64_t conv_floats = load.sequences * m.channels() * (kConvKernel - 1);
  const int copies = copies_of(state_floats * 4, load.chunked ? 1 : sizes.rotated_bytes);
  const RandomMemory s(device, Values::kF32, copies * state_floats * 4);
  const RandomMemory tails(device, Values::kF32, copies * conv_floats * 4);

  std::vector<Segment> segments;
  for (int32_t i = 0; i < load.sequences; ++i) {
    segments.push_back({.first = i * load.rows,
                        .count = load.rows,
                        .position = 0,
                        .slot = i,
                        .blocks = nullptr,
                        .chunked_until = load.chunked ? load.rows : 0,
                        .drafts = load.chunked ? 0 : load.rows - 1});
  }
  const DeviceList<Segment> list(device, segments);
  const gpu::StepSegments step = {list.data(), load.sequences,
                                  static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(load.rows))),
                                  gpu::kMinLongest};
  const RandomMemory qkv(device, Values::kF32, rows * m.channels() * 4);
  const RandomMemory gates(device, Values::kF32, rows * 2 * m.v_heads * 4);
  const RandomMemory weight(device, Values::kF32, m.channels() * kConvKernel * 4);
  const RandomMemory per_head(device, Values::kF32, 2 * m.v_heads * 4);
  const gpu::DeviceMemory out(device, rows * m.v_width() * 4);
  const gpu::DeviceMemory workspace(
      device, 4 * std::max(gpu::gdn_workspace(shape, rows), gpu::gdn_conv_workspace(shape, rows)));

  visit(
      {.what = {{"op", "gdn"},
                {"name", load.name},
                {"sequences", load.sequences},
                {"rows", load.rows},
                {"k_heads", m.k_heads},
                {"v_heads", m.v_heads},
                {"dim", m.gdn_dim},
                {"chunked", load.chunked},
                {"copies", copies}},
       .bytes = 4.0 * static_cast<double>(2 * state_floats + rows * (m.channels() + m.v_width())),
       .flops =
           static_cast<double>(rows * m.v_heads) * flops_of_row(static_cast<double>(m.gdn_dim), load.chunked),
       .eight_bit = false,
       .copies = copies,
       .launches = [&](int copy) {
         const GdnState state = {tails.as<float>() + copy * conv_floats, s.as<float>() + copy * state_floats};
         auto* const room = reinterpret_cast<float*>(workspace.data());
         gpu::Launches all =
             gpu::gdn_conv(shape, step, rows, weight.as<float>(), qkv.as<float>(), m.channels(), state, room);
         const gpu::Launches rule = gpu::gdn(shape, step, rows, qkv.as<float>(), m.channels(),
                                             gates.as<float>(), gates.as<float>() + m.v_heads, 2 * m.v_heads,
                                             per_head.as<float>(), per_head.as<float>() + m.v_heads, state,
                                             room, reinterpret_cast<float*>(out.data()), {});
         all.insert(all.end(), rule.begin(), rule.end());
         return all;
       }});
}

}  // namespace

void visit_gdn(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit) {
  for (const Load& load : {Load{"step", 1, 1, false}, Load{"step with 4 drafts", 1, 5, false},
                           Load{"step", sizes.sequences, 1, false}, Load{"chunks", 1, sizes.prompt, true},
                           Load{"chunks", 1, sizes.long_prompt, true}}) {
    visit_load(device, sizes, load, visit);
  }
}

}  // namespace llmservice::bench
