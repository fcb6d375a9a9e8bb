// All checks over what was read, and what they amount to. Pure.

import { checkApiServer, checkDefinition, checkPerson } from './check-api.js';
import { checkDeviceSlices } from './check-device-slices.js';
import { checkGateways } from './check-gateways.js';
import { checkModelGateways } from './check-model-gateways.js';
import { checkNodes } from './check-nodes.js';
import { checkOperators } from './check-operator.js';
import { checkPools } from './check-pools.js';
import { checkServices } from './check-services.js';
import { checkMetrics, checkNodeGroups, checkStorage } from './check-capabilities.js';
import { checkTaints } from './check-taints.js';
import type { ClusterFacts } from './facts.js';
import type { Finding } from './finding.js';

/** @param version of this build */
export function diagnose(facts: ClusterFacts, version: string): readonly Finding[] {
  return [
    ...checkApiServer(facts),
    ...checkDefinition(facts),
    ...checkOperators(facts, version),
    ...checkPerson(facts),
    ...checkNodes(facts),
    ...checkDeviceSlices(facts),
    ...checkTaints(facts),
    ...checkGateways(facts),
    ...checkPools(facts),
    ...checkMetrics(facts),
    ...checkNodeGroups(facts),
    ...checkStorage(facts),
    ...checkServices(facts),
    ...checkModelGateways(facts),
  ];
}

/** As `llmservice plan` ends: 2 is a wrong argument and 3 a cluster that cannot be read, which this never gives. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'problem')) return 1;
  return findings.some(({ level }) => level === 'warning') ? 4 : 0;
}
