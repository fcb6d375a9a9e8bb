#include "grammar/tool_calls.h"

#include <algorithm>

namespace llmservice {
namespace {

class Calls final : public Constraint {
 public:
  Calls(CallRules rules, CallMarkers markers)
      : rules_(std::move(rules)),
        markers_(std::move(markers)),
        other_(rules_.other ? rules_.other->begin() : nullptr),
        mask_((static_cast<size_t>(markers_.vocab) + 31) / 32) {}

  std::span<const uint32_t> allowed() override {
    if (call_) return inside();
    if (rules_.otherwise == Otherwise::kAnything) return {};
    return in_other_ ? other_->allowed() : outside();
  }

  void accept(int32_t token) override {
    if (call_ && token == markers_.end) {
      call_ = nullptr;
      ++calls_;
      after_break_ = false;
    } else if (call_ && token == markers_.begin) {
      call_ = rules_.body->begin();
      ++calls_;
    } else if (call_) {
      call_->accept(token);
    } else if (in_other_) {
      other_->accept(token);
    } else if (token == markers_.begin) {
      call_ = rules_.body->begin();
    } else if (is_break(token)) {
      after_break_ = true;
    } else if (other_ && calls_ == 0) {
      in_other_ = true;
      other_->accept(token);
    }
  }

 private:
  // Where the body could end its text, its call ends instead; without an end marker, another may begin too.
  std::span<const uint32_t> inside() {
    take(call_->allowed());
    const bool ends = std::ranges::any_of(markers_.stops, [this](int32_t id) { return has(id); });
    set(markers_.begin, ends && rules_.many && !markers_.end);
    if (markers_.end) {
      for (const int32_t id : markers_.stops) set(id, false);
      set(*markers_.end, ends);
    }
    return mask_;
  }

  std::span<const uint32_t> outside() {
    if (other_ && calls_ == 0) {
      take(other_->allowed());
    } else {
      std::ranges::fill(mask_, 0);
    }
    if (calls_ == 0 || rules_.many) {
      set(markers_.begin, true);
      for (const int32_t id : markers_.breaks) set(id, !after_break_);
    }
    if (calls_ > 0) {
      for (const int32_t id : markers_.stops) set(id, true);
    }
    return mask_;
  }

  void take(std::span<const uint32_t> allowed) {
    if (allowed.empty()) {
      std::ranges::fill(mask_, ~uint32_t{0});
    } else {
      std::ranges::copy(allowed, mask_.begin());
    }
  }
  bool has(int32_t id) const { return (mask_[id / 32] >> (id % 32) & 1) != 0; }
  void set(int32_t id, bool may) {
    const uint32_t bit = uint32_t{1} << (id % 32);
    mask_[id / 32] = may ? mask_[id / 32] | bit : mask_[id / 32] & ~bit;
  }
  bool is_break(int32_t id) const { return std::ranges::find(markers_.breaks, id) != markers_.breaks.end(); }

  CallRules rules_;
  CallMarkers markers_;
  std::unique_ptr<Constraint> other_;
  std::unique_ptr<Constraint> call_;  // null: outside of calls
  bool in_other_ = false;
  bool after_break_ = false;
  int32_t calls_ = 0;
  std::vector<uint32_t> mask_;
};

}  // namespace

std::unique_ptr<Constraint> ToolCalls::begin() const { return std::make_unique<Calls>(rules_, markers_); }

}  // namespace llmservice
