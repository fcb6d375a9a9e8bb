// Beside each four bytes of memory, who wrote them last and who read them since. Device memory is known to
// all threads of the host, which may be ranks; what lies beside it is each thread's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "access/clocks.h"

namespace llmservice::access {

struct Access {
  uint32_t launch = 0;  // 0: none
  uint32_t block = 0;
  Moment moment{};
  uint32_t code = 0;  // from this program's beginning
  uint8_t bytes = 0;  // one bit for each of the four
  bool is_one_step = false;
};

struct Cell {
  Access write{};  // of all four, but where `parts` has each
  std::unique_ptr<std::array<Access, 4>> parts{};
  std::array<Access, 3> reads{};
  uint8_t next_read = 0;

  const Access& write_of(int byte) const { return parts ? (*parts)[byte] : write; }
  void set_write(const Access& access) {
    if (access.bytes == 0xf) {
      parts.reset();
      write = access;
      return;
    }
    if (!parts) {
      parts = std::make_unique<std::array<Access, 4>>();
      parts->fill(write);
    }
    for (int i = 0; i < 4; ++i) {
      if (access.bytes >> i & 1) (*parts)[i] = access;
    }
  }
  void add_read(const Access& access);
};

// In pages, which are made when they are first touched.
class Shadow {
 public:
  Shadow() = default;
  Shadow(uintptr_t begin, size_t bytes)
      : begin_(begin), end_(begin + bytes), pages_(bytes / kPageBytes + 1) {}
  bool has(uintptr_t address) const { return address >= begin_ && address < end_; }
  Cell& cell(uintptr_t address) {
    const size_t offset = address - begin_;
    auto& page = pages_[offset / kPageBytes];
    if (!page) page = std::make_unique<Page>();
    return (*page)[offset % kPageBytes / 4];
  }

 private:
  static constexpr size_t kPageBytes = 4096;
  using Page = std::array<Cell, kPageBytes / 4>;
  uintptr_t begin_ = 0;
  uintptr_t end_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

// The device's allocations.
void add_memory(uintptr_t begin, size_t bytes);
void remove_memory(uintptr_t begin);

class DeviceShadows {
 public:
  // Null: not the device's.
  Shadow* of(uintptr_t address);

 private:
  void forget_removed();

  struct Known {
    uint64_t number;
    Shadow shadow;
  };
  std::map<uintptr_t, Known> known_;
  uint64_t seen_ = 0;  // changes of the allocations
  Shadow* last_ = nullptr;
};

}  // namespace llmservice::access
