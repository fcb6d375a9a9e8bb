// Devices that drivers list in ResourceSlices, which claims are allocated from, and whether services ask for what nobody lists. Of a
// pool there are as many slices as each says, as the API defines them. Pure.

import type { LlmServiceSpec } from '@llmservice/crds';
import { newestSlices, type SliceSpec } from '../kube/resource-slices.js';
import { keyOf, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import type { ClusterFacts } from './facts.js';
import { counted, Findings, listed, type Finding } from './finding.js';
import { valueOf } from './reading.js';

export function checkDeviceSlices({ resourceSlices, services }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('nodes');
  const all = services.state === 'read' ? services.value.map(({ object }) => object) : [];
  const wanting = all.filter(wantsClaim);
  // Who may not list them has no use for them, unless a service of theirs has.
  if (wanting.length === 0 && resourceSlices.state !== 'read') return [];
  const slices = valueOf(resourceSlices, 'ResourceSlices', findings);
  if (resourceSlices.state !== 'read') return findings.list;
  const names = listed(wanting.map(keyOf));
  const pools = [...newestSlices(slices ?? []).values()];
  const specs = pools.flat();
  for (const driver of new Set(specs.map((spec) => spec.driver))) {
    const of = specs.filter((spec) => spec.driver === driver);
    const devices = of.reduce((sum, spec) => sum + (spec.devices?.length ?? 0), 0);
    const nodes = new Set(of.flatMap(({ nodeName }) => nodeName ?? [])).size;
    findings.ok(`${driver} lists ${counted(devices, 'device')} on ${counted(nodes, 'node')} for claims`);
  }
  for (const pool of pools) addIncomplete(pool, findings);
  if (wanting.length === 0) return findings.list;
  if (slices === null) {
    findings.warning(
      `the cluster does not serve ResourceSlice (${resources.resourceSlices.apiVersion}), and ${names} asks for devices by claim`,
      'Use Kubernetes 1.34 or newer, or ask for an extended resource instead of spec.accelerator.claim.',
    );
  } else if (pools.flat().every(({ devices = [] }) => devices.length === 0)) {
    findings.warning(
      `no driver lists a device in ResourceSlices, and ${names} asks for devices by claim`,
      "Install the vendor's driver for dynamic resource allocation, and see the logs of its pods on the nodes.",
    );
  }
  return findings.list;
}

function wantsClaim({ spec }: KubeObject): boolean {
  return ((spec ?? {}) as Partial<LlmServiceSpec>).accelerator?.claim !== undefined;
}

function addIncomplete(slices: readonly SliceSpec[], findings: Findings): void {
  const [first] = slices;
  const wanted = first?.pool.resourceSliceCount ?? slices.length;
  if (first === undefined || slices.length >= wanted) return;
  findings.warning(
    `pool ${first.pool.name} of ${first.driver} has ${slices.length} of ${counted(wanted, 'ResourceSlice')}`,
    'The scheduler may allocate nothing of it until all are there: see the logs of the driver.',
  );
}
