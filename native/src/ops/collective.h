// How the ranks of a tensor-parallel group combine what each has computed, and what a backend asks of the
// others to do so on its device. All ranks make the same calls in the same order; with one rank there is
// nothing to combine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace llmservice {

// The first of `columns` that rank `rank` of `size` holds; that of rank `size` is their end.
constexpr int64_t first_column(int64_t columns, int32_t rank, int32_t size) { return columns * rank / size; }

// Who adds up what lies on devices: this code, or the vendor's library (NCCL, RCCL).
enum class Collectives : uint8_t {
  kAuto,  // the library where devices do not reach each other's memory
  kOwn,
  kLibrary
};

class Collective {
 public:
  virtual ~Collective() = default;
  // Who adds up, for people: `own`, or a library with its version.
  virtual std::string name() const { return "own"; }
  // x (count) = the sum of all ranks' x, added in rank order: the bits depend on nothing else. A library adds
  // in an order of its own, which may differ from run to run; every rank gets the same bits all the same.
  virtual void all_reduce(float* x, int64_t count) = 0;
  // x += the sum of all ranks' y (null: nothing), then out = rms_norm(x): the bits of all_reduce() and
  // Backend::add_rms_norm(). Afterwards y is undefined.
  virtual void all_reduce_add_rms_norm(Backend& backend, float* x, float* y, const float* weight, float eps,
                                       int64_t rows, int64_t dim, float* out, const FaultMarks& marks) {
    if (y != nullptr) all_reduce(y, rows * dim);
    backend.add_rms_norm(x, y, weight, eps, rows, dim, out, marks);
  }
  // Rank r holds columns [first_column(vocab, r), first_column(vocab, r + 1)) of a matrix as `mine` (rows,
  // its columns); rank 0 gets all of it as `out` (rows, vocab). On one rank both are the same memory.
  virtual void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) = 0;
};

class OneRank final : public Collective {
 public:
  void all_reduce(float*, int64_t) override {}
  void gather_logits(const float*, int64_t, int64_t, float*) override {}
};

// How the stages of a pipeline pass on what the next one computes with.
class StageLinks {
 public:
  virtual ~StageLinks() = default;
  // All ranks of all stages call it alike. `floats`: of each stage, how many it passes; the first rank of a
  // stage gives them as `mine`. `theirs` becomes what stage `from` passes; null: this rank takes nothing.
  virtual void pass(std::span<const float> mine, std::span<const int64_t> floats, int32_t from,
                    float* theirs) = 0;
};

inline Collective& one_rank() {
  static OneRank only;
  return only;
}

// One rank's way to the others through the host. Everything throws once a rank is lost.
class RankChannel {
 public:
  virtual ~RankChannel() = default;
  virtual int32_t rank() const = 0;
  virtual int32_t size() const = 0;
  // How long ranks wait for each other while they begin.
  virtual std::chrono::milliseconds patience() const = 0;
  // All ranks' messages in rank order; each is as long as `mine`. Throws EngineFault, naming the rank, when
  // one does not come in that time.
  virtual std::vector<std::byte> exchange(std::span<const std::byte> mine) = 0;
  virtual void check() const = 0;
  // The group has ended in peace: ranks may leave.
  virtual bool ended() const = 0;
  // From now on `word` becomes 1 within 100 ms after a rank is lost, written by another thread; null: no word
  // any more.
  virtual void mark_loss(uint32_t* word) = 0;
};

}  // namespace llmservice
