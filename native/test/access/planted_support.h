// Kernels with a fault planted, and without: what the access checker says of both.
#pragma once

#include <set>

#include "access/report.h"
#include "gpu_support.h"

namespace llmservice::access {

using Faults = std::set<Fault>;

inline void PrintTo(Fault fault, std::ostream* out) { *out << name_of(fault); }

// Launches that nothing of the host comes between.
inline Faults faults_of(const gpu::Launches& launches) {
  testing::device().finish();
  take_reports();
  for (const gpu::Launch& launch : launches) testing::device().run(launch);
  testing::device().finish();
  Faults faults;
  for (const Report& found : take_reports()) faults.insert(found.fault);
  return faults;
}

}  // namespace llmservice::access
