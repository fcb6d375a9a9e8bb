// A kernel launch as a value: made by the planner of a kernel (kernels/*.h), run, captured or compared later.
// Two launches are the same work when their kernel, shape and arguments are equal, byte for byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace llmservice::gpu {

struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  bool operator==(const Grid&) const = default;
};

struct Launch {
  static constexpr size_t kArguments = 24;
  static constexpr size_t kBytes = 320;

  const char* name;
  const void* kernel;
  // Calls the kernel once with the arguments, for the vendor that runs on the host.
  void (*call)(const void* kernel, const Launch& launch);
  Grid grid;
  uint32_t threads;  // of a block
  uint32_t shared_bytes;
  uint32_t count = 0;                         // of arguments
  uint32_t used = 0;                          // of `bytes`
  std::array<uint16_t, kArguments> offset{};  // of each argument in `bytes`
  alignas(16) std::array<std::byte, kBytes> bytes{};

  bool operator==(const Launch& other) const {
    return kernel == other.kernel && grid == other.grid && threads == other.threads &&
           shared_bytes == other.shared_bytes && used == other.used &&
           std::memcmp(bytes.data(), other.bytes.data(), used) == 0;
  }

  template <class T>
  const T& argument(size_t index) const {
    return *reinterpret_cast<const T*>(bytes.data() + offset[index]);
  }
};

using Launches = std::vector<Launch>;

// Values of `shared_bytes` above 48 KiB are asked of the device when the kernel first runs.
template <class... Parameters>
Launch make_launch(const char* name, void (*kernel)(Parameters...), Grid grid, uint32_t threads,
                   uint32_t shared_bytes, std::type_identity_t<Parameters>... arguments) {
  static_assert(sizeof...(Parameters) <= Launch::kArguments);
  static_assert((std::is_trivially_copyable_v<Parameters> && ...));
  Launch launch{.name = name,
                .kernel = reinterpret_cast<const void*>(kernel),
                .call =
                    [](const void* function, const Launch& self) {
                      [&]<size_t... I>(std::index_sequence<I...>) {
                        reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(function))(
                            self.argument<Parameters>(I)...);
                      }
                      (std::index_sequence_for<Parameters...>{});
                    },
                .grid = grid,
                .threads = threads,
                .shared_bytes = shared_bytes};
  size_t end = 0;
  const auto put = [&]<class T>(T value) {
  // Else equal launches could differ; a compiler without this leaves what lay there, which is mostly equal.
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&value);
#endif
    end = (end + alignof(T) - 1) / alignof(T) * alignof(T);
    launch.offset[launch.count++] = static_cast<uint16_t>(end);
    std::memcpy(launch.bytes.data() + end, &value, sizeof(T));
    end += sizeof(T);
    launch.used = static_cast<uint32_t>(end);
  };
  static_assert((size_t{0} + ... + (sizeof(Parameters) + alignof(Parameters))) <= Launch::kBytes);
  (put(arguments), ...);
  return launch;
}

}  // namespace llmservice::gpu
