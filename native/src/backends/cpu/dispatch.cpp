// Chooses the instruction family once, when a backend is made.
#include <string>

#include "backends/cpu/kernels.h"

namespace llmservice::cpu {
namespace {

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

}  // namespace

const Kernels& select_kernels(const char* isa) {
  const std::string name = isa;
  if (name == "portable") return portable_kernels();
  if (name == "auto") return has_avx512() ? avx512_kernels() : portable_kernels();
  if (name == "avx512" && has_avx512()) return avx512_kernels();
  throw EngineError(FailureReason::kInvalidEngineConfig,
                    "This machine cannot run the instruction family '" + name +
                        "': use auto, or portable, which runs everywhere.");
}

}  // namespace llmservice::cpu

namespace llmservice {

std::vector<std::string> cpu_isas() {
  std::vector<std::string> isas = {"portable"};
  if (cpu::has_avx512()) isas.emplace_back("avx512");
  return isas;
}

}  // namespace llmservice
