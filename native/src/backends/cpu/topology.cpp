// Reads the affinity mask, the sibling lists of sysfs and the CPU quota of cgroup v2 or v1.
#include "backends/cpu/topology.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

namespace llmservice::cpu {
namespace {

// Hyperthreads of one core share its vector units: a second thread there adds contention, not speed.
int physical_cores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
    cores.insert(siblings);
  }
  return std::max<int>(1, static_cast<int>(cores.size()));
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
  const int cores = physical_cores();
  const double quota = std::ceil(cgroup_quota());
  return quota < cores ? std::max(1, static_cast<int>(quota)) : cores;
}

}  // namespace llmservice::cpu
