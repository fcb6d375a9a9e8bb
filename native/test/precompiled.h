// What tests parse and instantiate alike, once for all of them: precompiled, and JSON's class emitted by
// json_instances.cc alone, since its members are half of what a test of engines compiles to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

extern template class nlohmann::basic_json<>;
