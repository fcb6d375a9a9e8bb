// Whether the lanes of a warp meet in the same call. A device runs them through one: those in different ones
// would wait for each other for ever, or exchange what they should not.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>

namespace llmservice::gpu::emulator {

struct Call {
  const char* name = nullptr;
  std::source_location place = {};
};

// Name, file and line.
inline std::string text_of(const Call& call) {
  const std::string file = call.place.file_name();
  const size_t start = file.rfind("native/");
  return std::string(call.name) + " at " + file.substr(start == file.npos ? 0 : start) + ":" +
         std::to_string(call.place.line());
}

inline bool is_same(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }
// The function too: lanes may be in different instances of a template.
inline bool is_same(const Call& a, const Call& b) {
  return a.place.line() == b.place.line() && a.place.column() == b.place.column() &&
         is_same(a.name, b.name) && is_same(a.place.file_name(), b.place.file_name()) &&
         is_same(a.place.function_name(), b.place.function_name());
}

// The lane of a warp that came first to a meeting, of the warp or of the block.
class FirstArrival {
 public:
  // What is wrong, if lane `lane` comes to meeting `turn` in another call than the first did.
  std::string difference(uint64_t turn, uint32_t lane, const Call& call) {
    if (turn_ != turn + 1) {
      call_ = call;
      lane_ = lane;
      turn_ = turn + 1;
      return {};
    }
    if (is_same(call_, call)) return {};
    return "lane " + std::to_string(lane_) + " in " + text_of(call_) + ", lane " + std::to_string(lane) +
           " in " + text_of(call);
  }
  const Call& call() const { return call_; }

 private:
  Call call_;
  uint32_t lane_ = 0;
  uint64_t turn_ = 0;  // and one; 0 before the first
};

}  // namespace llmservice::gpu::emulator
