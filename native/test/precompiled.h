// What tests parse alike, once for all of them. Without JSON, which few include: what it instantiates, each
// file that has it would instantiate anew, a second of the compiler's time.
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
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>
