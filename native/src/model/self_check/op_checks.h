// Runs each operation of a model's layers, by the model's shapes, on its backend and on the scalar reference.
#pragma once

#include "model/caches.h"
#include "model/config.h"
#include "ops/ops.h"

namespace llmservice {

// `config` as this rank sees it. Returns what differs, "" where nothing does: the operation, where, expected
// and found.
std::string differing_op(Backend& backend, const ModelConfig& config, const CacheSizes& sizes);

}  // namespace llmservice
