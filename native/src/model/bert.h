// What a model that is built as BERT holds beside its layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/weights.h"

namespace llmservice {

struct BertInputs {
  std::unique_ptr<Matrix> positions;  // (learned positions, hidden), whole on each rank, as the next
  std::unique_ptr<Matrix> types;      // (types, hidden)
  DeviceVector norm_bias;             // (hidden), of the embeddings' norm
  DeviceVector ones;                  // (intermediate), in place of what a gate multiplies
  // Of the largest step: each row to its own place, and the first to all.
  std::vector<RowCopy> every_row;
  std::vector<RowCopy> first_row;
  std::vector<int32_t> position_ids;  // of the step in hand
  std::vector<int32_t> type_ids;      // zeros

  // As the checkpoint has them.
  size_t bytes() const { return positions->bytes + types->bytes + norm_bias.bytes(); }
};

// `config` as this rank sees it.
BertInputs read_bert_inputs(WeightReader& reader, Backend& backend, const ModelConfig& config,
                            int32_t max_tokens, const std::string& prefix);

}  // namespace llmservice
