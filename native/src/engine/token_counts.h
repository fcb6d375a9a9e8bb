// Which tokens a sequence holds and how often it generated them: what the penalties need.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

namespace llmservice {

class TokenCounts {
 public:
  void add_prompt(std::span<const int32_t> tokens) {
    for (const int32_t token : tokens) generated_.try_emplace(token, 0);
  }
  void add_generated(int32_t token) { ++generated_[token]; }

  // Every distinct token of the sequence, with how often it was generated (0: prompt only).
  const std::unordered_map<int32_t, int32_t>& generated() const { return generated_; }

 private:
  std::unordered_map<int32_t, int32_t> generated_;
};

}  // namespace llmservice
