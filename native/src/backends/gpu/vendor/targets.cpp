// Which processors a vendor's library has code for, as native/gpu.cmake compiled it: "sm_80 … compute_100",
// where compute_100 is PTX that the driver compiles for newer ones, or "gfx90a gfx942".

extern "C" __attribute__((visibility("default"))) const char* llmservice_gpu_targets() {
  return LLMSERVICE_GPU_TARGETS;
}
