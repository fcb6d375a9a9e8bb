// A grammar that begins only after a token, such as the one that ends a model's reasoning; until then
// anything goes.
#pragma once

#include <utility>

#include "engine/constraint.h"

namespace llmservice {

class AfterToken final : public Grammar {
 public:
  AfterToken(std::shared_ptr<const Grammar> grammar, int32_t token)
      : grammar_(std::move(grammar)), token_(token) {}

  std::unique_ptr<Constraint> begin() const override {
    return std::make_unique<Waiting>(grammar_->begin(), token_);
  }

 private:
  class Waiting final : public Constraint {
   public:
    Waiting(std::unique_ptr<Constraint> constraint, int32_t token)
        : constraint_(std::move(constraint)), token_(token) {}

    std::span<const uint32_t> allowed() override {
      return begun_ ? constraint_->allowed() : std::span<const uint32_t>();
    }
    void accept(int32_t token) override {
      if (begun_) constraint_->accept(token);
      begun_ = begun_ || token == token_;
    }

   private:
    std::unique_ptr<Constraint> constraint_;
    int32_t token_;
    bool begun_ = false;
  };

  std::shared_ptr<const Grammar> grammar_;
  int32_t token_;
};

}  // namespace llmservice
