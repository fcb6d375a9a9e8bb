// Reads the affinity mask, the sibling lists of sysfs and the CPU quota of cgroup v2 or v1.
#include "backends/cpu/topology.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace llmservice::cpu {
namespace {

// The CPUs of the affinity mask by physical core. Hyperthreads of one core share its vector units: a second
// thread there adds contention, not speed.
std::vector<std::vector<int>> physical_cores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return {{}};
  std::vector<std::vector<int>> cores;
  std::map<std::string, size_t> seen;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
    const auto [core, is_new] = seen.emplace(siblings, cores.size());
    if (is_new) cores.emplace_back();
    cores[core->second].push_back(cpu);
  }
  return cores;
}

// CPUs that the quota allows, or infinity.
double cgroup_quota() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period && quota != "max" && period > 0) {
    return std::stod(quota) / period;
  }
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double limit = 0;
  if (quota_file >> limit && period_file >> period && limit > 0 && period > 0) return limit / period;
  return INFINITY;
}

}  // namespace

int usable_cores() {
  const auto cores = static_cast<int>(physical_cores().size());
  const double quota = std::ceil(cgroup_quota());
  return quota < cores ? std::max(1, static_cast<int>(quota)) : cores;
}

int take_share_of_cores(int rank, int ranks) {
  const auto cores = physical_cores();
  const auto count = static_cast<int>(cores.size());
  if (count < ranks) return 1;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int first = count * rank / ranks;
  const int end = count * (rank + 1) / ranks;
  for (int core = first; core < end; ++core) {
    for (const int cpu : cores[core]) CPU_SET(cpu, &mask);
  }
  sched_setaffinity(0, sizeof(mask), &mask);  // refused, threads wander: slower, never wrong
  return std::clamp(static_cast<int>(cgroup_quota() / ranks), 1, end - first);
}

}  // namespace llmservice::cpu
