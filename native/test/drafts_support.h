// An engine driven as a scheduler drives it, with a drafter that is right as often as a script says.
#pragma once

#include <algorithm>
#include <map>

#include "engine/engine.h"
#include "ops/reference.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {

// Knows what sequences will say. Of the n-th drafts of a step the first `right[n]` are so, the others are
// not.
class OracleDrafter final : public Drafter {
 public:
  OracleDrafter(std::vector<std::vector<int32_t>> truths, std::vector<int32_t> right)
      : truths_(std::move(truths)), right_(std::move(right)) {}

  // Sequences that it does not know get none meanwhile.
  void pause(bool paused) { paused_ = paused; }

  void draft(const DraftStep& step, SlotTable& slots) override {
    if (paused_) return;
    for (const Segment& segment : step.segments) {
      Slot& slot = slots.at(segment.slot);
      const int32_t room = slot.room_for_drafts(step.drafts);
      if (room == 0) continue;
      const std::vector<int32_t>& truth = truth_of(slot);
      const int32_t right = right_[calls_++ % right_.size()];
      for (int32_t i = 0; i < room; ++i) {
        const int32_t next = truth.at(slot.tokens.size() + i);
        slot.drafts.push_back(i < right ? next : (next + 1) % 211);
      }
    }
  }

 private:
  const std::vector<int32_t>& truth_of(const Slot& slot) const {
    return *std::ranges::find_if(truths_, [&](const auto& truth) {
      return truth.size() > slot.tokens.size() &&
             std::ranges::equal(slot.tokens, std::span(truth).first(slot.tokens.size()));
    });
  }

  std::vector<std::vector<int32_t>> truths_;
  std::vector<int32_t> right_;
  size_t calls_ = 0;
  bool paused_ = false;
};

struct Said {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
  Finish finish = Finish::kNone;
  std::optional<Fault> fault = std::nullopt;
  int32_t steps = 0;  // that sampled
  bool same_as(const Said& o) const {
    return tokens == o.tokens && logprobs == o.logprobs && top_tokens == o.top_tokens &&
           top_logprobs == o.top_logprobs && finish == o.finish;
  }
};

struct Request {
  Admission admission;
  int32_t joins_at = 0;     // step
  int32_t leaves_with = 0;  // tokens after which it is released; 0: when it ends
  int32_t chunk = 64;       // most prompt rows of a step
};

constexpr int32_t kBlocksPerSlot = 16;

// Room for four sequences of 256 tokens.
inline EngineOptions room_for_four(const TempDir& dir, const Speculation& speculation,
                                   std::optional<RankPlace> place = std::nullopt, int32_t snapshots = 0) {
  return {.checkpoint = dir.checkpoint(),
          .block_size = 16,
          .num_blocks = 4 * kBlocksPerSlot,
          .max_num_seqs = 4,
          .num_state_snapshots = snapshots,
          .max_model_len = 256,
          .max_num_batched_tokens = 256,
          .dtype = DType::kF32,
          .speculation = speculation,
          .place = place};
}

// A layer for multi-token prediction of the tiny hybrid, with random weights.
inline void add_mtp(Tensors& t, uint32_t seed = 7) {
  std::mt19937 random(seed);
  t["mtp.fc.weight"] = bf16_tensor({64, 128}, 0, 0.3F, random);
  for (const char* norm : {"pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", "layers.0.input_layernorm",
                           "layers.0.post_attention_layernorm"}) {
    t[std::string("mtp.") + norm + ".weight"] = bf16_tensor({64}, 0, 0.1F, random);
  }
  const std::string layer = "mtp.layers.0.";
  t[layer + "self_attn.q_proj.weight"] = bf16_tensor({128, 64}, 0, 0.3F, random);
  t[layer + "self_attn.k_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
  t[layer + "self_attn.v_proj.weight"] = bf16_tensor({32, 64}, 0, 0.3F, random);
  t[layer + "self_attn.o_proj.weight"] = bf16_tensor({64, 64}, 0, 0.3F, random);
  t[layer + "self_attn.q_norm.weight"] = bf16_tensor({16}, 0, 0.1F, random);
  t[layer + "self_attn.k_norm.weight"] = bf16_tensor({16}, 0, 0.1F, random);
  t[layer + "mlp.gate_proj.weight"] = bf16_tensor({96, 64}, 0, 0.3F, random);
  t[layer + "mlp.up_proj.weight"] = bf16_tensor({96, 64}, 0, 0.3F, random);
  t[layer + "mlp.down_proj.weight"] = bf16_tensor({64, 96}, 0, 0.3F, random);
}

// Runs the requests together until all are gone, with `drafts` drafts asked for in every step. `ahead`: their
// rows are planned as if each held so many.
inline std::vector<Said> run_requests(Engine& engine, const std::vector<Request>& requests, int32_t drafts,
                                      bool ahead = false) {
  std::vector<Said> said(requests.size());
  std::map<int32_t, size_t> by_slot;
  std::map<int32_t, int32_t> held;
  std::vector<int32_t> computed(requests.size());
  std::vector<bool> gone(requests.size());
  const auto known = [&](size_t i) {
    return static_cast<int32_t>(requests[i].admission.tokens.size() + said[i].tokens.size());
  };
  StepPlan plan;
  for (int32_t step = 0; std::ranges::count(gone, false) > 0; ++step) {
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto& [admission, joins_at, leaves_with, chunk] = requests[i];
      if (gone[i] || joins_at > step) continue;
      if (joins_at == step) {
        by_slot[admission.slot] = i;
        plan.admit.push_back(admission);
        computed[i] = admission.cached_tokens;
        for (int32_t b = 0; b < kBlocksPerSlot; ++b) {
          const bool shared = (b + 1) * 16 <= admission.cached_tokens;  // those of slot 0
          plan.blocks.push_back({admission.slot, (shared ? 0 : admission.slot * kBlocksPerSlot) + b});
        }
      }
      const int32_t left = known(i) - computed[i];
      const int32_t more =
          left == 1 ? std::min(ahead ? drafts : held[admission.slot], admission.max_length - 1 - known(i))
                    : 0;
      plan.rows.push_back({admission.slot, std::min(left, chunk) + more});
      computed[i] += std::min(left, chunk);
    }
    plan.drafts = drafts;
    plan.ahead = ahead;
    const StepResult result = engine.step(plan);
    plan = {};
    held.clear();
    for (const auto& [slot, tokens] : result.drafts) held[slot] = static_cast<int32_t>(tokens.size());
    for (const Fault& fault : result.faults) said[by_slot.at(fault.slot)].fault = fault;
    std::map<size_t, int32_t> sampled;
    for (size_t t = 0; t < result.tokens.size(); ++t) {
      const size_t i = by_slot.at(result.slots[t]);
      Said& s = said[i];
      computed[i] = known(i);
      s.tokens.push_back(result.tokens[t]);
      s.logprobs.push_back(result.logprobs[t]);
      for (int32_t k = result.top_offsets[t]; k < result.top_offsets[t + 1]; ++k) {
        s.top_tokens.push_back(result.top_tokens[k]);
        s.top_logprobs.push_back(result.top_logprobs[k]);
      }
      s.finish = result.finish[t];
      if (sampled[i]++ == 0) ++s.steps;
    }
    for (const auto& [i, count] : sampled) {
      const int32_t enough = requests[i].leaves_with;
      if (said[i].finish == Finish::kNone &&
          (enough == 0 || static_cast<int32_t>(said[i].tokens.size()) < enough)) {
        continue;
      }
      gone[i] = true;
      plan.release.push_back(requests[i].admission.slot);
    }
  }
  engine.step(plan);
  return said;
}

// The whole sequences.
inline std::vector<std::vector<int32_t>> truths_of(const std::vector<Request>& requests,
                                                   const std::vector<Said>& said) {
  std::vector<std::vector<int32_t>> truths;
  for (size_t i = 0; i < requests.size(); ++i) {
    truths.push_back(requests[i].admission.tokens);
    truths.back().insert(truths.back().end(), said[i].tokens.begin(), said[i].tokens.end());
    truths.back().resize(truths.back().size() + 16);  // drafts beyond the end
  }
  return truths;
}

}  // namespace llmservice::testing
