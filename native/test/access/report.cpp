#include "access/report.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

extern "C" const char __ehdr_start;  // where this program lies, by the linker

namespace llmservice::access {
namespace {

std::mutex reporting;
std::vector<Report> reports;
std::set<std::tuple<Fault, std::string, uintptr_t, uintptr_t>> reported;

// File and line by addr2line, of the innermost function that was inlined there.
std::string source_of(uintptr_t code) {
  if (code == 0) return {};
  char command[128];
  // A return address: the call is before it.
  std::snprintf(command, sizeof command, "addr2line -ie /proc/%d/exe %#lx", getpid(),
                code - 1 - reinterpret_cast<uintptr_t>(&__ehdr_start));
  std::string line = "?";
  if (FILE* const pipe = popen(command, "r")) {
    char text[512];
    if (std::fgets(text, sizeof text, pipe) != nullptr) line = text;
    pclose(pipe);
  }
  line.erase(line.find_last_not_of('\n') + 1);
  return line.substr(line.rfind("/native/") + 1);
}

}  // namespace

const char* name_of(Fault fault) {
  constexpr const char* kNames[] = {"write after an unordered write",
                                    "read after an unordered write",
                                    "write after an unordered read",
                                    "read before wait_for_previous()",
                                    "write before wait_for_previous()",
                                    "a launch without wait_for_previous()",
                                    "product of stored memory without a fence",
                                    "copy on a barrier without a fence",
                                    "read of shared memory that nobody wrote",
                                    "more shared memory than there is"};
  return kNames[static_cast<int>(fault)];
}

void report(Fault fault, const char* kernel, uintptr_t other, uintptr_t here, const std::string& text) {
  const std::scoped_lock lock(reporting);
  if (!reported.emplace(fault, kernel, other, here).second) return;
  std::string all = text;
  if (here != 0) all += "; here: " + source_of(here);
  if (other != 0) all += "; the other: " + source_of(other);
  reports.push_back({fault, kernel, all});
}

std::vector<Report> take_reports() {
  const std::scoped_lock lock(reporting);
  reported.clear();
  return std::exchange(reports, {});
}

}  // namespace llmservice::access
