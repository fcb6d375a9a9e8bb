// A kernel launch as a value: made by the planner of a kernel (kernels/*.h), run, captured or compared later.
// Two launches are the same work when their kernel, shape and arguments are equal, byte for byte. A call to a
// library that puts work on a stream is such a value too, so that it keeps its place among launches.
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
  // Not null: `kernel` is a function of the host, which is called now and puts its work on the stream.
  void (*put_on)(void* stream, const Launch& launch) = nullptr;
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

  template <class T>
  void add_argument(T value) {
    // Else equal launches could differ; a compiler without this leaves what lay there, which is mostly equal.
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&value);
#endif
    const size_t begin = (used + alignof(T) - 1) / alignof(T) * alignof(T);
    offset[count++] = static_cast<uint16_t>(begin);
    std::memcpy(bytes.data() + begin, &value, sizeof(T));
    used = static_cast<uint32_t>(begin + sizeof(T));
  }
};

using Launches = std::vector<Launch>;

template <class... Parameters>
void add_arguments(Launch& launch, Parameters... arguments) {
  static_assert(sizeof...(Parameters) <= Launch::kArguments);
  static_assert((std::is_trivially_copyable_v<Parameters> && ...));
  static_assert((size_t{0} + ... + (sizeof(Parameters) + alignof(Parameters))) <= Launch::kBytes);
  (launch.add_argument(arguments), ...);
}

// Values of `shared_bytes` above 48 KiB are asked of the device when the kernel first runs.
template <class... Parameters>
Launch make_launch(const char* name, void (*kernel)(Parameters...), Grid grid, uint32_t threads,
                   uint32_t shared_bytes, std::type_identity_t<Parameters>... arguments) {
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
  add_arguments<Parameters...>(launch, arguments...);
  return launch;
}

// `function` is called when the launches before have been given to the stream.
template <class... Parameters>
Launch make_call(const char* name, void (*function)(void* stream, Parameters...),
                 std::type_identity_t<Parameters>... arguments) {
  Launch launch{.name = name,
                .kernel = reinterpret_cast<const void*>(function),
                .call = nullptr,
                .put_on =
                    [](void* stream, const Launch& self) {
                      [&]<size_t... I>(std::index_sequence<I...>) {
                        reinterpret_cast<void (*)(void*, Parameters...)>(const_cast<void*>(self.kernel))(
                            stream, self.argument<Parameters>(I)...);
                      }
                      (std::index_sequence_for<Parameters...>{});
                    },
                .grid = {},
                .threads = 0,
                .shared_bytes = 0};
  add_arguments<Parameters...>(launch, arguments...);
  return launch;
}

}  // namespace llmservice::gpu
