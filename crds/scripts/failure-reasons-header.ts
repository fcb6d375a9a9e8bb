// The failure reasons as an enum of the native engine, which throws some of them: no name is spelt there that the table lacks.

import { failureReasons } from '../src/failures.js';

export function failureReasonsHeader(): string {
  return `// Generated from crds/src/failures.ts by \`npm run generate\`. Do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace llmservice {

enum class FailureReason : uint8_t {
${failureReasons.map((reason) => `  k${reason},\n`).join('')}};

constexpr const char* name_of(FailureReason reason) {
  constexpr const char* kNames[] = {
${failureReasons.map((reason) => `      "${reason}",\n`).join('')}  };
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace llmservice
`;
}
