// The products of a layer, as they are fused when weights are loaded, and the head.
#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/gpu/kernels/matmul.h"
#include "op_case.h"
#include "ops/dtype.h"
#include "random_memory.h"

namespace llmservice::bench {
namespace {

struct ProductShape {
  const char* name;
  int64_t outputs;
  int64_t cols;
  DType dtype;
};

std::vector<ProductShape> products_of(const QwenSizes& s) {
  const int64_t q = s.heads * s.head_dim;
  return {{"attention in", 2 * q + 2 * s.kv_heads * s.head_dim, s.hidden, DType::kF8E4M3},
          {"attention out", s.hidden, q, DType::kF8E4M3},
          {"GDN in", s.channels() + s.v_width(), s.hidden, DType::kF8E4M3},
          {"GDN b, a", 2 * s.v_heads, s.hidden, DType::kBF16},
          {"GDN out", s.hidden, s.v_width(), DType::kF8E4M3},
          {"gate, up", 2 * s.feed_forward, s.hidden, DType::kF8E4M3},
          {"down", s.hidden, s.feed_forward, DType::kF8E4M3},
          {"head", s.vocab, s.hidden, DType::kBF16}};
}

// Codes that products widen, of which each type keeps other numbers of words in registers (kernels.md).
std::vector<ProductShape> coded_products_of(const QwenSizes& s) {
  std::vector<ProductShape> shapes;
  for (const DType type : {DType::kInt4, DType::kMXFP4, DType::kQ4_K, DType::kQ6_K}) {
    shapes.push_back({"gate, up", 2 * s.feed_forward, s.hidden, type});
  }
  return shapes;
}

const char* type_name(DType t) {
  return t == DType::kF8E4M3 ? "e4m3" : t == DType::kBF16 ? "bf16" : name_of(t);
}

// Slices of four units each, which differ in how many sums are joined: none, two by two, and a quarter of
// all.
std::vector<ProductShape> probes_of(int64_t multiprocessors) {
  return {{"probe: nothing joined", multiprocessors * 128, 512, DType::kF8E4M3},
          {"probe: joined by two", multiprocessors * 64, 1024, DType::kF8E4M3},
          {"probe: joined by a quarter", 512, multiprocessors * 128, DType::kF8E4M3}};
}

// Copies of one matrix, whose tiles hold any codes.
struct Weights {
  Weights(gpu::Device& device, const ProductShape& p, int64_t rotated)
      : tile_bytes(gpu::tile_bytes(p.dtype, p.outputs, p.cols)),
        scale_bytes(gpu::scale_bytes(p.dtype, p.outputs, p.cols, gpu::kTileRows)),
        copies(copies_of(tile_bytes, rotated)),
        tiles(device, p.dtype == DType::kBF16 ? Values::kBF16 : Values::kF8E4M3, copies * tile_bytes),
        scales(device, Values::kF32Scale, std::max<int64_t>(scale_bytes, 1)) {}

  gpu::DeviceMatrix matrix(const gpu::Device& device, const ProductShape& p, int copy) const {
    return {.tiles = tiles.as<std::byte>() + copy * tile_bytes,
            .scales = p.dtype == DType::kF8E4M3 ? scales.as<float>() : nullptr,
            .scale_rows = gpu::kTileRows,
            .dtype = p.dtype,
            .order = gpu::is_coded(p.dtype) ? gpu::TileOrder::kFragments
                                            : gpu::tile_order(device.compute_capability()),
            .rows = static_cast<int32_t>(p.outputs),
            .cols = static_cast<int32_t>(p.cols),
            .stride = static_cast<int32_t>(p.outputs),
            .multiprocessors = device.multiprocessors()};
  }

  int64_t tile_bytes;
  int64_t scale_bytes;
  int copies;
  RandomMemory tiles;
  RandomMemory scales;
};

}  // namespace

int copies_of(int64_t bytes, int64_t all) {
  return static_cast<int>(std::clamp<int64_t>((all + bytes - 1) / bytes, 1, 64));
}

void visit_products(gpu::Device& device, const OpSizes& sizes, const OpVisitor& visit) {
  std::vector<ProductShape> shapes = products_of(sizes.model);
  // Tunings do not change them.
  if (sizes.tunings.size() == 1)
    std::ranges::copy(coded_products_of(sizes.model), std::back_inserter(shapes));
  if (sizes.probes) std::ranges::copy(probes_of(device.multiprocessors()), std::back_inserter(shapes));
  for (const ProductShape& p : shapes) {
    const Weights weights(device, p, sizes.rotated_bytes);
    const bool eight_bit = p.dtype == DType::kF8E4M3;
    for (const int64_t rows : sizes.rows) {
      // Only the last row of a prompt meets the head.
      if (p.outputs == sizes.model.vocab && rows > 64) continue;
      const RandomMemory x(device, Values::kF32, rows * p.cols * 4);
      const gpu::DeviceMemory out(device, rows * p.outputs * 4);
      const gpu::DeviceMemory workspace(device, gpu::matmul_workspace(weights.matrix(device, p, 0), rows));
      const int64_t code_bytes =
          gpu::is_coded(p.dtype) ? weights.tile_bytes : p.outputs * p.cols * size_of(p.dtype);
      const double weight_bytes =
          static_cast<double>(code_bytes) + (eight_bit ? static_cast<double>(weights.scale_bytes) : 0);
      for (const gpu::ProductTuning& tuning : sizes.tunings) {
        nlohmann::json what = {{"op", "product"},         {"name", p.name}, {"rows", rows},
                               {"outputs", p.outputs},    {"cols", p.cols}, {"dtype", type_name(p.dtype)},
                               {"copies", weights.copies}};
        if (sizes.tunings.size() > 1) {
          what.update({{"resident", tuning.resident}, {"ahead_bytes", tuning.ahead_bytes}});
        }
        visit({.what = std::move(what),
               .bytes = weight_bytes + 4.0 * static_cast<double>(rows * (p.cols + p.outputs)),
               .flops = 2.0 * static_cast<double>(rows * p.outputs) * static_cast<double>(p.cols),
               .eight_bit = eight_bit,
               .copies = weights.copies,
               .launches = [&](int copy) {
                 const gpu::DeviceMatrix matrix = weights.matrix(device, p, copy);
                 const gpu::Activations to = gpu::activations_of(matrix, rows, workspace.data());
                 gpu::Launches launches = {gpu::quantize(to, x.as<float>(), rows),
                                           gpu::multiply(matrix, rows, workspace.data(),
                                                         reinterpret_cast<float*>(out.data()), tuning)};
                 if (tuning.ahead_bytes > 0 && gpu::reads_ahead(matrix, rows)) {
                   const gpu::DeviceMatrix next = weights.matrix(device, p, (copy + 1) % weights.copies);
                   gpu::read_ahead(launches.back(), next, tuning.ahead_bytes);
                 }
                 return launches;
               }});
      }
    }
  }
}

}  // namespace llmservice::bench
