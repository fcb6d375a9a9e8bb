// Taints of nodes with devices, and which services tolerate them. Pure.

import { keyOf } from '../kube/resources.js';
import type { Taint, Toleration } from '../kube/types.js';
import { taintText, tolerates } from '../plan/fit/node-choice.js';
import { nodeDevices } from './check-nodes.js';
import type { ClusterFacts } from './facts.js';
import { Findings, listed, type Finding } from './finding.js';

export function checkTaints(facts: ClusterFacts): readonly Finding[] {
  const findings = new Findings('nodes');
  const services = facts.services.state === 'read' ? facts.services.value : [];
  for (const [text, { taint, nodes }] of taintsOf(facts)) {
    const tolerating = services.filter(({ object }) => {
      const { tolerations = [] } = (object['spec'] ?? {}) as { tolerations?: readonly Toleration[] };
      return tolerations.some((each) => tolerates(each, taint));
    });
    const whom =
      tolerating.length === 0
        ? `no service of ${facts.namespace}`
        : listed(tolerating.map(({ object }) => keyOf(object)));
    findings.info(`taint ${text} on ${listed(nodes)}: tolerated by ${whom}`);
  }
  return findings.list;
}

function taintsOf(facts: ClusterFacts): Map<string, { taint: Taint; nodes: string[] }> {
  const found = new Map<string, { taint: Taint; nodes: string[] }>();
  for (const { name, devices, taints } of nodeDevices(facts)) {
    if (devices.length === 0) continue;
    for (const taint of taints) {
      const text = taintText(taint);
      const before = found.get(text);
      if (before === undefined) found.set(text, { taint, nodes: [name] });
      else before.nodes.push(name);
    }
  }
  return found;
}
