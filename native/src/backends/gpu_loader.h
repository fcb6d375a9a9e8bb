// Finds a vendor's library beside this code, opens it and says what is there. On any machine: whatever is
// missing becomes a sentence that names it.
#pragma once

#include <memory>
#include <string>

#include "backends/gpu/library.h"

namespace llmservice {

// What runs the model: "cpu", "cuda", "hip"; "emulator" in tests alone, where it was built and is named.
bool is_gpu(const std::string& device);

// Whether code for `targets` (llmservice_gpu_targets) runs on `architecture`. CUDA's code for sm_80 runs on
// all of major version 8 from there on, that for sm_90a there alone, and compute_100 is compiled by the
// driver for whatever came later; HIP's runs on the processor that it names.
bool has_code_for(const std::string& targets, const std::string& architecture);

// Never throws: `problem` says why no device is there or why none can be used.
gpu::DeviceList gpu_devices(const std::string& vendor);

// Throws DeviceUnavailable where device `index` cannot be used. With LLMSERVICE_RANKS_SHARE_DEVICES=1, for
// tests, an index beyond the last device is taken modulo their number.
std::unique_ptr<Backend> make_gpu_backend(const std::string& vendor, int index);

}  // namespace llmservice
