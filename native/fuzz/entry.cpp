// libFuzzer's entry for the target that FUZZ_TARGET names.
#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  llmservice::FUZZ_TARGET({data, size});
  return 0;
}
