// Sequences of one length driven through an engine as a scheduler does: rows that decode first, the rest of
// each step's rows for the next prompts.
#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"
#include "scripted_drafter.h"

namespace llmservice::bench {

struct Load {
  int32_t sequences;
  int32_t prompt;     // tokens of each
  int32_t generated;  // tokens of each
};

struct LoadLimits {
  int32_t block_size;
  int32_t rows;    // of a step
  int32_t drafts;  // of a sequence in a step; 0: none
  int32_t vocab;
};

struct LoadTimes {
  double seconds = 0;                 // of all
  double first_token_seconds = 0;     // of the first sequence
  std::vector<double> decode_micros;  // of each step without rows of prompts
  int64_t decode_tokens = 0;          // of these steps
  int64_t drafts = 0;
  int64_t accepted = 0;
  Truths said;         // prompt and tokens of each sequence
  int32_t faults = 0;  // sequences that ended for a numerical fault

  double micros_per_token() const;
};

// Before each step, given how many sequences decode in it and whether a prompt is in it too.
using OnStep = std::function<void(int32_t decoding, bool prefills)>;

// Ends with free slots.
LoadTimes run_load(Engine& engine, const Load& load, const LoadLimits& limits, const OnStep& on_step = {});

}  // namespace llmservice::bench
