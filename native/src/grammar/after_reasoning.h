// A grammar of what comes after a model's reasoning, in which anything goes but to stop: reasoning that the
// prompt began, or that the model itself may begin with its first token.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bridge/structs.h"
#include "engine/constraint.h"

namespace llmservice {

class AfterReasoning final : public Grammar {
 public:
  AfterReasoning(std::shared_ptr<const Grammar> grammar, AwaitedReasoning ids)
      : grammar_(std::move(grammar)), ids_(std::move(ids)) {}

  std::unique_ptr<Constraint> begin() const override {
    return std::make_unique<Reasoned>(grammar_->begin(), ids_);
  }

 private:
  class Reasoned final : public Constraint {
   public:
    Reasoned(std::unique_ptr<Constraint> constraint, AwaitedReasoning ids)
        : constraint_(std::move(constraint)),
          ids_(std::move(ids)),
          at_(ids_.begin ? At::kBefore : At::kWithin) {}

    std::span<const uint32_t> allowed() override {
      if (at_ != At::kWithin) return constraint_->allowed();
      if (all_but_stops_.empty()) forbid_stops();
      return all_but_stops_;
    }

    // A mask that let it through would have models begin that would not.
    std::optional<int32_t> opening() const override { return at_ == At::kBefore ? ids_.begin : std::nullopt; }

    void accept(int32_t token) override {
      if (at_ == At::kWithin) {
        if (token == ids_.end) at_ = At::kAfter;
      } else if (at_ == At::kBefore && token == ids_.begin) {
        at_ = At::kWithin;
      } else {
        at_ = At::kAfter;
        constraint_->accept(token);
      }
    }

   private:
    enum class At { kBefore, kWithin, kAfter };

    void forbid_stops() {
      all_but_stops_.assign(constraint_->allowed().size(), ~uint32_t{0});
      for (const int32_t stop : ids_.stops) {
        // Ids that the vocabulary does not have are in no mask.
        if (stop < 0 || static_cast<size_t>(stop / 32) >= all_but_stops_.size()) continue;
        all_but_stops_[stop / 32] &= ~(uint32_t{1} << (stop % 32));
      }
    }

    std::unique_ptr<Constraint> constraint_;
    AwaitedReasoning ids_;
    At at_;
    std::vector<uint32_t> all_but_stops_;  // made when first asked for
  };

  std::shared_ptr<const Grammar> grammar_;
  AwaitedReasoning ids_;
};

}  // namespace llmservice
