// Rules that an entry of a step plan must keep whatever the other entries are, and how a broken one is
// reported.
#pragma once

#include <span>
#include <string>

#include "engine/slots.h"

namespace llmservice {

// Throws EngineFault. `where`: the entry; `rule`: what of it is wrong, to the full stop.
[[noreturn]] void broken(const std::string& where, const std::string& rule);

// What messages call an entry of one of the plan's lists.
std::string entry(const char* list, size_t index, int32_t slot);

// `snapshot_position`: as SlotTable has it. `warming_up`: of a plan of a warm-up, which needs no snapshot.
void check_admission(const Admission& admission, const SlotLimits& limits,
                     std::span<const int32_t> snapshot_position, bool warming_up, const std::string& where);
void check_snapshot(int32_t snapshot, const SlotLimits& limits, const std::string& where);

}  // namespace llmservice
