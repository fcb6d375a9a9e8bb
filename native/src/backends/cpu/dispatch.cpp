// Chooses the instruction family once, when a backend is made.
#include <string>

#include "backends/cpu/kernels.h"
#include "backends/cpu/tile_check.h"

namespace llmservice::cpu {
namespace {

bool runs_anywhere() { return true; }

#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool has_avx512bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
bool has_avx512bf16() { return false; }
#endif
bool has_amx() { return has_avx512bf16() && has_tiles(); }

struct Family {
  const char* name;
  bool (*runs)();  // on this machine
  const Kernels& (*kernels)();
  const Kernels& (*float32_kernels)();  // that do not round activations; null: none of its own

  bool is(const std::string& wanted) const {
    if (wanted == "float32") return float32_kernels != nullptr;
    return wanted == "auto" || wanted == name;
  }
};

// Best last.
constexpr Family kFamilies[] = {{"portable", runs_anywhere, portable_kernels, portable_kernels},
                                {"avx2", has_avx2, avx2_kernels, avx2_float32_kernels},
                                {"avx512", has_avx512, avx512_kernels, avx512_kernels},
                                {"avx512bf16", has_avx512bf16, avx512bf16_kernels, nullptr},
                                {"amx", has_amx, amx_kernels, nullptr}};

}  // namespace

const Kernels& select_kernels(const char* isa) {
  const std::string name = isa;
  if (name == kModelledAmx && has_avx512bf16()) return modelled_amx_kernels();
  const Family* found = nullptr;
  for (const Family& family : kFamilies) {
    if (family.is(name) && family.runs()) found = &family;
  }
  if (found != nullptr) return name == "float32" ? found->float32_kernels() : found->kernels();
  throw EngineError(FailureReason::kInvalidEngineConfig,
                    "This machine cannot run the instruction family '" + name +
                        "': use auto, or portable, which runs everywhere.");
}

}  // namespace llmservice::cpu

namespace llmservice {

std::vector<std::string> cpu_isas() {
  std::vector<std::string> isas;
  for (const cpu::Family& family : cpu::kFamilies) {
    if (family.runs()) isas.emplace_back(family.name);
  }
  return isas;
}

}  // namespace llmservice
