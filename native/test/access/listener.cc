// Fails a test of what the access checker reported in it and no assertion took.
#include <gtest/gtest.h>

#include "access/report.h"

namespace llmservice::access {
namespace {

class Listener : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const Report& found : take_reports()) {
      ADD_FAILURE() << found.kernel << ": " << name_of(found.fault) << ": " << found.text;
    }
  }
};

const bool listening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

}  // namespace
}  // namespace llmservice::access
