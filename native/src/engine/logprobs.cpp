#include "engine/logprobs.h"

#include <algorithm>
#include <cmath>

#include "engine/vocab_math.h"

namespace llmservice {

double log_normalizer(std::span<const float> weights, float top) { return top + std::log(sum(weights)); }

void top_logprobs(std::span<const float> logits, double normalizer, int32_t count,
                  std::vector<TokenLogprob>& out) {
  out.clear();
  const auto limit = std::min<size_t>(static_cast<size_t>(count), logits.size());
  // `out` stays sorted; almost every token fails the first comparison, so insertion is rare.
  for (size_t i = 0; i < logits.size() && limit > 0; ++i) {
    if (out.size() == limit && logits[i] <= out.back().logprob) continue;
    const auto after =
        std::find_if(out.begin(), out.end(), [&](const auto& t) { return t.logprob < logits[i]; });
    out.insert(after, {static_cast<int32_t>(i), logits[i]});
    if (out.size() > limit) out.pop_back();
  }
  for (auto& entry : out) entry.logprob = static_cast<float>(entry.logprob - normalizer);
}

void logprobs_of(std::span<const int32_t> tokens, std::span<const float> logits, double normalizer,
                 std::vector<TokenLogprob>& out) {
  out.clear();
  for (const int32_t token : tokens) {
    out.push_back({token, static_cast<float>(logits[token] - normalizer)});
  }
}

}  // namespace llmservice
