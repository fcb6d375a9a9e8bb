// Prefill and decode of a whole model, round by round.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "bandwidth.h"
#include "engine/engine.h"
#include "model_shape.h"

namespace llmservice::bench {

struct Load {
  int32_t sequences;  // decoded together
  int32_t prompt;     // tokens of each
};

// An engine on all threads, with room for the load; `isa` as Backend's options have it.
std::unique_ptr<Engine> load_engine(const std::filesystem::path& dir, const Load& load,
                                    const char* isa = "auto");

// One entry per round.
struct Rounds {
  std::vector<double> prefill;    // seconds of the first prompt
  std::vector<double> decode;     // seconds of a step of all sequences, median of the round's steps
  std::vector<double> bandwidth;  // bytes per second, measured beside that round's decode
};

// Prefills the prompts one by one, then decodes all sequences together.
void run_round(Engine& engine, const Load& load, BandwidthProbe& probe, Rounds& rounds);

// Bytes that a decode reads: each weight at most once, however many sequences share it, and each sequence's
// KV.
double bytes_of_decode(const EngineInfo& info, const ModelShape& shape, const Load& load);

// One round of each load, a JSON line each: tokens and bytes per second, seconds of the load.
void print_measurements(const std::filesystem::path& dir, const ModelShape& shape, const char* isa,
                        const std::vector<Load>& loads);

}  // namespace llmservice::bench
