#include "grammar/marked_text.h"

#include <algorithm>

namespace llmservice {
namespace {

class Marked final : public Constraint {
 public:
  Marked(std::unique_ptr<Constraint> constraint, std::vector<InnerMarker> markers)
      : constraint_(std::move(constraint)), markers_(std::move(markers)) {}

  std::span<const uint32_t> allowed() override {
    const auto allowed = constraint_->allowed();
    if (allowed.empty()) return allowed;
    mask_.assign(allowed.begin(), allowed.end());
    for (const auto& [id, stand_in] : markers_) {
      set(id, (mask_[stand_in / 32] >> (stand_in % 32) & 1) != 0);
      set(stand_in, false);
    }
    return mask_;
  }

  void accept(int32_t token) override {
    const auto marker = std::ranges::find(markers_, token, &InnerMarker::id);
    constraint_->accept(marker == markers_.end() ? token : marker->stand_in);
  }

 private:
  void set(int32_t id, bool may) {
    const uint32_t bit = uint32_t{1} << (id % 32);
    mask_[id / 32] = may ? mask_[id / 32] | bit : mask_[id / 32] & ~bit;
  }

  std::unique_ptr<Constraint> constraint_;
  std::vector<InnerMarker> markers_;
  std::vector<uint32_t> mask_;
};

}  // namespace

std::unique_ptr<Constraint> MarkedText::begin() const {
  return std::make_unique<Marked>(grammar_->begin(), markers_);
}

}  // namespace llmservice
