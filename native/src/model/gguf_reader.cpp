#include "model/gguf_reader.h"

#include <algorithm>
#include <cstring>

#include "ops/error.h"

namespace llmservice {
namespace {

constexpr uint64_t kMaxName = 1'024;
constexpr uint64_t kWindowBytes = 64 << 10;

}  // namespace

void GgufReader::corrupt(const std::string& problem) const {
  throw EngineError("CheckpointCorrupt", file_ + ": " + problem);
}

void GgufReader::need(uint64_t count, const std::string& what) const {
  if (count <= left()) return;
  corrupt("the file ends at byte " + std::to_string(end_) + " within " + what + ", which at byte " +
          std::to_string(at_) + " takes " + std::to_string(count) + " more: it is truncated or malformed.");
}

void GgufReader::take(std::span<std::byte> out, const std::string& what) {
  need(out.size(), what);
  if (at_ < window_at_ || at_ + out.size() > window_at_ + window_.size()) {
    window_.resize(std::min(left(), std::max<uint64_t>(kWindowBytes, out.size())));
    read_(at_, window_);
    window_at_ = at_;
  }
  std::memcpy(out.data(), window_.data() + (at_ - window_at_), out.size());
  at_ += out.size();
}

std::string GgufReader::text(uint64_t length, const std::string& what) {
  std::string value(length, '\0');
  if (length > 0) take(std::as_writable_bytes(std::span(value)), what);
  return value;
}

std::string GgufReader::name(const std::string& what) {
  const auto length = number<uint64_t>(what);
  if (length == 0 || length > kMaxName) {
    corrupt(what + " has " + std::to_string(length) + " bytes; expected 1 to " + std::to_string(kMaxName) +
            ".");
  }
  return text(length, what);
}

void GgufReader::skip(uint64_t count, const std::string& what) {
  need(count, what);
  at_ += count;
}

}  // namespace llmservice
