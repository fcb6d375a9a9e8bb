// How tests check failures.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ops/error.h"

namespace llmservice::testing {

// The reason with which `action` fails; "" when it does not.
template <typename Action>
std::string failure_of(Action action, std::string* message = nullptr) {
  try {
    action();
  } catch (const EngineError& error) {
    if (message != nullptr) *message = error.what();
    return name_of(error.reason());
  }
  return "";
}

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

}  // namespace llmservice::testing
