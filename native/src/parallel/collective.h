// How the ranks of a tensor-parallel group combine what each has computed. The model calls these at the same
// points on every rank; with one rank there is nothing to combine.
#pragma once

#include <cstdint>

#include "model/shard.h"

namespace llmservice {

class Collective {
 public:
  virtual ~Collective() = default;
  // x (count) = the sum of all ranks' x, added in rank order: the bits depend on nothing else.
  virtual void all_reduce(float* x, int64_t count) = 0;
  // Rank r holds columns shard_vocab(vocab, r) of a matrix as `mine` (rows, its columns); rank 0 gets all of
  // it as `out` (rows, vocab). On one rank both are the same memory.
  virtual void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) = 0;
};

class OneRank final : public Collective {
 public:
  void all_reduce(float*, int64_t) override {}
  void gather_logits(const float*, int64_t, int64_t, float*) override {}
};

inline Collective& one_rank() {
  static OneRank only;
  return only;
}

}  // namespace llmservice
