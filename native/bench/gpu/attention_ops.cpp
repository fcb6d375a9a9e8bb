// Attention over a paged cache: rows that decode, and chunks of a prompt.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/matmul.h"
#include "op_case.h"
#include "ops/dtype.h"
#include "random_memory.h"

namespace llmservice::bench {
namespace {

struct Load {
  const char* name;
  int32_t sequences;
  int32_t rows;     // of each
  int32_t context;  // positions of each, its rows included
};

void visit_load(gpu::Device& device, const OpSizes& sizes, DType kv, const Load& load,
                const OpVisitor& visit) {
  const QwenSizes& m = sizes.model;
  const AttentionShape shape = {.heads = static_cast<int32_t>(m.heads),
                                .kv_heads = static_cast<int32_t>(m.kv_heads),
                                .head_dim = static_cast<int32_t>(m.head_dim),
                                .block_size = kBlockSize,
                                .kv_dtype = kv,
                                .scale = 1 / std::sqrt(static_cast<float>(m.head_dim))};
  const int64_t rows = int64_t{load.sequences} * load.rows;
  const int32_t table_length = (load.context + kBlockSize - 1) / kBlockSize;
  const int64_t blocks = int64_t{load.sequences} * table_length;
  const int64_t cache_rows = blocks * kBlockSize * m.kv_heads;
  const int64_t side_bytes = cache_rows * m.head_dim * static_cast<int64_t>(size_of(kv));
  const int copies = copies_of(2 * side_bytes, sizes.rotated_bytes);
  const Values values = kv == DType::kF8E4M3 ? Values::kF8E4M3 : Values::kBF16;
  const RandomMemory k(device, values, copies * side_bytes), v(device, values, copies * side_bytes);
  const RandomMemory scales(device, Values::kF32Scale, cache_rows * 4);

  std::vector<int32_t> table(blocks);
  std::iota(table.begin(), table.end(), 0);
  std::shuffle(table.begin(), table.end(), std::mt19937(1));
  const DeviceList<int32_t> tables(device, table);
  // As the engine has them of a hybrid, and as the backend counts them.
  const int32_t chunked_until = load.rows < 64 ? 0 : load.context / 64 * 64;
  const int32_t chunked = gpu::tile_order(device.compute_capability()) == gpu::TileOrder::kSwizzled
                              ? std::max(chunked_until - (load.context - load.rows), 0)
                              : 0;
  const auto power_of_two = [](int32_t count) {
    return count == 0 ? 0 : static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(count)));
  };
  std::vector<Segment> segments;
  for (int32_t s = 0; s < load.sequences; ++s) {
    segments.push_back({s * load.rows, load.rows, load.context - load.rows, s,
                        tables.data() + int64_t{s} * table_length, chunked_until});
  }
  const DeviceList<Segment> list(device, segments);
  // As the backend rounds them.
  const int32_t longest = power_of_two(std::max(load.context, gpu::kMinLongest));
  const gpu::StepSegments step = {.segments = list.data(),
                                  .count = load.sequences,
                                  .max_rows = power_of_two(load.rows),
                                  .longest = longest,
                                  .max_chunked = power_of_two(chunked),
                                  .max_rest = power_of_two(load.rows - chunked)};

  const int64_t width = m.heads * m.head_dim;
  const RandomMemory q(device, Values::kF32, rows * width * 4);
  const gpu::DeviceMemory out(device, rows * width * 4);
  const gpu::DeviceMemory workspace(device, gpu::attention_workspace(shape, rows, longest) * 4);
  const double seen = static_cast<double>(load.sequences) * load.rows *
                      (load.context - (load.rows - 1) / 2.0);  // pairs of a row and a position
  const double cached = 2.0 * load.sequences * load.context * static_cast<double>(m.kv_heads) *
                        (static_cast<double>(m.head_dim * size_of(kv)) + (kv == DType::kF8E4M3 ? 4 : 0));
  visit({.what = {{"op", "attention"},
                  {"name", load.name},
                  {"sequences", load.sequences},
                  {"rows", load.rows},
                  {"context", load.context},
                  {"heads", m.heads},
                  {"kv_heads", m.kv_heads},
                  {"head_dim", m.head_dim},
                  {"dtype", kv == DType::kF8E4M3 ? "e4m3" : "bf16"},
                  {"copies", copies}},
         .bytes = cached + 8.0 * static_cast<double>(rows * width),
         .flops = 4.0 * seen * static_cast<double>(width),
         .eight_bit = false,
         .copies = copies,
         .launches = [&](int copy) {
           const KvCache cache = {k.as<std::byte>() + copy * side_bytes,
                                  v.as<std::byte>() + copy * side_bytes, scales.as<float>(),
                                  scales.as<float>()};
           return gpu::attention(shape, step, q.as<float>(), width, cache,
                                 reinterpret_cast<float*>(workspace.data()),
                                 reinterpret_cast<float*>(out.data()));
         }});
}

}  // namespace

void visit_attention(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit) {
  std::vector<Load> loads;
  for (const int32_t context : sizes.context) {
    loads.push_back({"decode", 1, 1, context});
    loads.push_back({"decode with 4 drafts", 1, 5, context});
    loads.push_back({"decode", sizes.sequences, 1, context});
  }
  loads.push_back({"prompt from its start", 1, sizes.prompt, sizes.prompt});
  loads.push_back({"last chunk of a prompt", 1, sizes.prompt, sizes.long_prompt});
  loads.push_back({"prompt from its start", 1, sizes.long_prompt, sizes.long_prompt});
  for (const DType kv : {DType::kBF16, DType::kF8E4M3}) {
    for (const Load& load : loads) visit_load(device, sizes, kv, load, visit);
  }
}

}  // namespace llmservice::bench
