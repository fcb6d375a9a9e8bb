// Parts of config.json that have a file of their own: rotary embedding, attention windows, experts.
#pragma once

#include "model/config.h"
#include "model/config_fields.h"

namespace llmservice {

// Throws UnsupportedArchitecture.
[[noreturn]] void unsupported(const std::string& message);

RopeConfig parse_rope(const ConfigFields& text, int32_t head_dim, double default_factor);
// Positions that each layer's attention sees, 0: all before it.
std::vector<int32_t> parse_windows(const ConfigFields& text, const std::string& architecture, int32_t layers);
// Nothing for an architecture without experts.
std::optional<MoeConfig> parse_moe(const ConfigFields& text, const std::string& architecture);
std::vector<FeedForwardKind> parse_feed_forward(const ConfigFields& text, const std::string& architecture,
                                                int32_t layers);

}  // namespace llmservice
