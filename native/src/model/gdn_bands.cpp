#include "model/gdn_bands.h"

namespace llmservice {
namespace {

Range times(Range heads, int64_t rows) { return {heads.begin * rows, heads.count * rows}; }

GdnBands separate_bands(const ModelConfig& c, Shard shard, const std::string& prefix) {
  const GdnConfig& g = *c.gdn;
  const int64_t k_width = static_cast<int64_t>(g.k_heads) * g.k_dim;
  const int64_t v_width = static_cast<int64_t>(g.v_heads) * g.v_dim;
  const Range k = times(shard_range(g.k_heads, shard, "linear_num_key_heads"), g.k_dim);
  const std::vector<Range> v_heads = shard_value_heads(g, shard);
  GdnBands bands;
  const auto add_qkv = [&](Range rows) {
    bands.qkvz.push_back({prefix + "in_proj_qkv", 2 * k_width + v_width, c.hidden, rows, whole(c.hidden)});
  };
  add_qkv(k);
  add_qkv({k_width + k.begin, k.count});
  for (const Range heads : v_heads) {
    const Range v = times(heads, g.v_dim);
    add_qkv({2 * k_width + v.begin, v.count});
  }
  for (const Range heads : v_heads)
    bands.qkvz.push_back({prefix + "in_proj_z", v_width, c.hidden, times(heads, g.v_dim), whole(c.hidden)});
  for (const char* name : {"in_proj_b", "in_proj_a"}) {
    for (const Range heads : v_heads)
      bands.ba.push_back({prefix + name, g.v_heads, c.hidden, heads, whole(c.hidden)});
  }
  return bands;
}

// The parts that each of the key heads in `heads` has in a matrix, one part of all heads after the other.
std::vector<Band> gathered(const std::string& module, std::span<const int64_t> parts, Range heads,
                           int64_t all_heads, int64_t cols) {
  int64_t per_head = 0;
  for (const int64_t rows : parts) per_head += rows;
  std::vector<Band> bands;
  int64_t offset = 0;
  for (const int64_t rows : parts) {
    for (int64_t head = heads.begin; head < heads.begin + heads.count; ++head) {
      bands.push_back({module, all_heads * per_head, cols, {head * per_head + offset, rows}, whole(cols)});
    }
    offset += rows;
  }
  return bands;
}

// Stored per key head as [q | k | its v heads | their z] and [its b | its a].
GdnBands interleaved_bands(const ModelConfig& c, Shard shard, const std::string& prefix, bool qkvz_apart) {
  const GdnConfig& g = *c.gdn;
  const Range heads = shard_range(g.k_heads, shard, "linear_num_key_heads");
  const int64_t ratio = g.v_heads / g.k_heads;
  const int64_t v_rows = ratio * g.v_dim;
  const int64_t qkvz[] = {g.k_dim, g.k_dim, v_rows, v_rows};
  const int64_t ba[] = {ratio, ratio};
  return {qkvz_apart ? separate_bands(c, shard, prefix).qkvz
                     : gathered(prefix + "in_proj_qkvz", qkvz, heads, g.k_heads, c.hidden),
          gathered(prefix + "in_proj_ba", ba, heads, g.k_heads, c.hidden)};
}

}  // namespace

GdnBands gdn_bands(const ModelConfig& config, Shard shard, const std::string& prefix, bool qkvz_apart) {
  return config.gdn->interleaved ? interleaved_bands(config, shard, prefix, qkvz_apart)
                                 : separate_bands(config, shard, prefix);
}

}  // namespace llmservice
