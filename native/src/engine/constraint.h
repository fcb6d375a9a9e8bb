// What sequences may say: the seam between the engine, which masks logits, and grammars, which know what may
// come next. Draft rows count only after the token before them was sampled, so a constraint is asked about
// one token after the other and never has to go back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace llmservice {

// Of one sequence: which tokens may follow those that it has generated.
class Constraint {
 public:
  virtual ~Constraint() = default;
  // A bit per id of the vocabulary, bit id % 32 of word id / 32, set where it may come next. None is
  // where nothing can follow. Empty: any may. Valid until the next call.
  virtual std::span<const uint32_t> allowed() = 0;
  // An id that may come too, where the model chooses it freely among all.
  virtual std::optional<int32_t> opening() const { return {}; }
  // Moves on over a token that was allowed, or over the opening.
  virtual void accept(int32_t token) = 0;
};

// What a constraint is made from: compiled once, shared by sequences and threads, never changed.
class Grammar {
 public:
  virtual ~Grammar() = default;
  virtual std::unique_ptr<Constraint> begin() const = 0;
};

}  // namespace llmservice
