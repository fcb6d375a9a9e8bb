// A text with marker tokens in it, which stand for no text of their own: its grammar has for each a stand-in,
// a token that is otherwise nowhere in such a text.
#pragma once

#include <utility>
#include <vector>

#include "engine/constraint.h"

namespace llmservice {

struct InnerMarker {
  int32_t id;
  int32_t stand_in;
};

class MarkedText final : public Grammar {
 public:
  MarkedText(std::shared_ptr<const Grammar> grammar, std::vector<InnerMarker> markers)
      : grammar_(std::move(grammar)), markers_(std::move(markers)) {}

  // Holds on to what it needs of this.
  std::unique_ptr<Constraint> begin() const override;

 private:
  std::shared_ptr<const Grammar> grammar_;
  std::vector<InnerMarker> markers_;
};

}  // namespace llmservice
