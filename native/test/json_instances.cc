// The members of nlohmann::json, for tests that are compiled with precompiled.h.
#include "precompiled.h"

template class nlohmann::basic_json<>;
