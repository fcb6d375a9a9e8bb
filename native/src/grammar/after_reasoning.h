// A grammar of what comes after a model's reasoning, in which anything goes but to stop: reasoning that the
// prompt began, or that the model itself may begin with its first token.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/constraint.h"

namespace llmservice {

struct ReasoningIds {
  std::optional<int32_t> begin;  // none: the prompt begins it
  int32_t end = 0;
  std::vector<int32_t> stops;  // what would end the whole
};

class AfterReasoning final : public Grammar {
 public:
  AfterReasoning(std::shared_ptr<const Grammar> grammar, ReasoningIds ids)
      : grammar_(std::move(grammar)), ids_(std::move(ids)) {}

  std::unique_ptr<Constraint> begin() const override {
    return std::make_unique<Reasoned>(grammar_->begin(), ids_);
  }

 private:
  class Reasoned final : public Constraint {
   public:
    Reasoned(std::unique_ptr<Constraint> constraint, ReasoningIds ids)
        : constraint_(std::move(constraint)),
          ids_(std::move(ids)),
          at_(ids_.begin ? At::kBefore : At::kWithin) {}

    std::span<const uint32_t> allowed() override {
      if (at_ == At::kWithin && !mask_.empty()) return mask_;
      const std::span<const uint32_t> after = constraint_->allowed();
      if (at_ == At::kAfter || after.empty()) return after;
      if (at_ == At::kBefore) {
        mask_.assign(after.begin(), after.end());
        put(*ids_.begin, true);
      } else {
        mask_.assign(after.size(), ~uint32_t{0});
        for (const int32_t stop : ids_.stops) put(stop, false);
      }
      return mask_;
    }

    void accept(int32_t token) override {
      if (at_ == At::kWithin) {
        if (token == ids_.end) at_ = At::kAfter;
      } else if (at_ == At::kBefore && token == ids_.begin) {
        at_ = At::kWithin;
        mask_.clear();
      } else {
        at_ = At::kAfter;
        constraint_->accept(token);
      }
    }

   private:
    enum class At { kBefore, kWithin, kAfter };

    // Ids that the vocabulary does not have are in no mask.
    void put(int32_t id, bool may) {
      if (id < 0 || static_cast<size_t>(id / 32) >= mask_.size()) return;
      const uint32_t bit = uint32_t{1} << (id % 32);
      mask_[id / 32] = may ? mask_[id / 32] | bit : mask_[id / 32] & ~bit;
    }

    std::unique_ptr<Constraint> constraint_;
    ReasoningIds ids_;
    At at_;
    std::vector<uint32_t> mask_;  // within reasoning the same for each token
  };

  std::shared_ptr<const Grammar> grammar_;
  ReasoningIds ids_;
};

}  // namespace llmservice
