#include "model/shard.h"

#include "ops/collective.h"

namespace llmservice {

Range shard_range(int64_t total, Shard shard, const char* what) {
  if (total % shard.size != 0) {
    throw EngineError(FailureReason::kParallelismInvalid, std::string(what) + " (" + std::to_string(total) +
                                                              ") cannot be divided among " +
                                                              std::to_string(shard.size) + " ranks.");
  }
  const int64_t count = total / shard.size;
  return {shard.rank * count, count};
}

HeadShard shard_heads(int32_t heads, int32_t kv_heads, Shard shard, const char* what) {
  const Range q = shard_range(heads, shard, "num_attention_heads");
  if (kv_heads % shard.size == 0) return {q, shard_range(kv_heads, shard, what)};
  if (shard.size % kv_heads != 0) {
    throw EngineError(FailureReason::kParallelismInvalid,
                      std::string(what) + " (" + std::to_string(kv_heads) +
                          ") neither divides nor is divided by " + std::to_string(shard.size) + " ranks.");
  }
  return {q, {shard.rank / (shard.size / kv_heads), 1}};
}

std::vector<Range> shard_value_heads(const GdnConfig& gdn, Shard shard) {
  const Range all = shard_range(gdn.v_heads, shard, "linear_num_value_heads");
  if (!gdn.tiled || shard.size == 1) return {all};
  const Range keys = shard_range(gdn.k_heads, shard, "linear_num_key_heads");
  std::vector<Range> rounds;
  for (int64_t first = 0; first < gdn.v_heads; first += gdn.k_heads)
    rounds.push_back({first + keys.begin, keys.count});
  return rounds;
}

Range shard_vocab(int64_t vocab, Shard shard) {
  const int64_t begin = first_column(vocab, shard.rank, shard.size);
  return {begin, first_column(vocab, shard.rank + 1, shard.size) - begin};
}

ModelConfig shard_config(const ModelConfig& whole, Shard shard) {
  ModelConfig part = whole;
  const HeadShard heads = shard_heads(whole.heads, whole.kv_heads, shard);
  part.heads = static_cast<int32_t>(heads.q.count);
  part.kv_heads = static_cast<int32_t>(heads.kv.count);
  if (part.global_attention) {
    part.global_attention->kv_heads = static_cast<int32_t>(
        shard_heads(whole.heads, whole.global_attention->kv_heads, shard, "num_global_key_value_heads")
            .kv.count);
  }
  part.intermediate = static_cast<int32_t>(shard_range(whole.intermediate, shard, "intermediate_size").count);
  if (part.shared_kv) {
    part.shared_kv->intermediate = static_cast<int32_t>(
        shard_range(whole.shared_kv->intermediate, shard, "intermediate_size of layers that share KV").count);
  }
  if (part.gdn) {
    part.gdn->k_heads =
        static_cast<int32_t>(shard_range(whole.gdn->k_heads, shard, "linear_num_key_heads").count);
    part.gdn->v_heads =
        static_cast<int32_t>(shard_range(whole.gdn->v_heads, shard, "linear_num_value_heads").count);
  }
  if (part.moe) {
    part.moe->intermediate =
        static_cast<int32_t>(shard_range(whole.moe->intermediate, shard, "moe_intermediate_size").count);
    part.moe->shared_intermediate = static_cast<int32_t>(
        shard_range(whole.moe->shared_intermediate, shard, "shared_expert_intermediate_size").count);
  }
  return part;
}

}  // namespace llmservice
