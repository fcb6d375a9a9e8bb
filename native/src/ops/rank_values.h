// What each rank of a group sends the others about itself.
#pragma once

#include <cstring>
#include <type_traits>

#include "ops/collective.h"

namespace llmservice {

// All ranks' values, in their order: RankChannel::exchange().
template <class T>
std::vector<T> values_of_all(RankChannel& channel, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> message = channel.exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> all(channel.size());
  std::memcpy(all.data(), message.data(), message.size());
  return all;
}

}  // namespace llmservice
