// Tests of what goes over the wire to other nodes and engines; skipped where the library for it is not
// installed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "failures.h"
#include "parallel/wire_loader.h"

namespace llmservice::testing {

class OverWire : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // As engines have it (runtime/src/engine/ucx-variables.ts).
    setenv("UCX_HANDLE_ERRORS", "none", 1);
    setenv("UCX_MEM_EVENTS", "n", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    setenv("UCX_TCP_CM_REUSEADDR", "y", 1);
  }
  void SetUp() override {
    try {
      open_wire();
    } catch (const EngineError& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace llmservice::testing
