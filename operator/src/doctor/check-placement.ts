// Whether some node can take a pod of a service: devices, taints, selectors, and the partition that its profile names. Pure.

import type { PodSpec } from '../kube/types.js';
import { mayRunOn, taintText, tolerates } from '../plan/fit/node-choice.js';
import type { WantedService } from '../domain/wanted-service.js';
import { counted, listed, type Findings } from './finding.js';
import { profileOf, type NodeDevices } from './node-devices.js';

export function checkPlacement(
  service: WantedService,
  nodes: readonly NodeDevices[],
  findings: Findings,
): void {
  const { resourceName, devices } = service.accelerator;
  if (resourceName === null || nodes.length === 0) return;
  const key = `${service.namespace}/${service.name}`;
  const having = nodes.filter((node) => node.devices.some(({ resource }) => resource === resourceName));
  if (having.length === 0) {
    const others = new Set(nodes.flatMap((node) => node.devices.map(({ resource }) => resource)));
    findings.problem(
      `${key}: no node advertises ${resourceName}`,
      others.size === 0
        ? 'Add a node with such devices, or its device plugin.'
        : `Set spec.accelerator.resourceName to what there is: ${listed([...others])}.`,
    );
    return;
  }
  const pod = podOf(service);
  const obstacles = having.map((node) => obstacleOf(node, pod, resourceName, devices));
  const suiting = having.filter((_, index) => obstacles[index] === null);
  if (suiting.length === 0) {
    findings.problem(
      `${key}: none of ${counted(having.length, 'node')} with ${resourceName} can take its pod: ${tally(obstacles)}`,
      'Correct spec.tolerations, spec.nodeSelector, spec.affinity or spec.accelerator.devices.',
    );
    return;
  }
  checkProfile(service, resourceName, suiting, findings);
  findings.ok(`${key}: ${counted(suiting.length, 'node')} can take its pod (${devices} x ${resourceName})`);
}

function podOf({ spec }: WantedService): PodSpec {
  const { tolerations, nodeSelector, affinity } = spec;
  // The schema leaves affinity free-form; the API server checked it.
  return { tolerations, nodeSelector, affinity } as PodSpec;
}

/** Null: there is none. */
function obstacleOf(node: NodeDevices, pod: PodSpec, resource: string, devices: number): string | null {
  const allocatable = node.devices.find((each) => each.resource === resource)?.allocatable ?? 0;
  if (allocatable < devices) return `fewer than ${devices} devices`;
  if (node.cordoned) return 'cordoned';
  const taint = node.taints.find(
    (each) =>
      each.effect !== 'PreferNoSchedule' &&
      !(pod.tolerations ?? []).some((toleration) => tolerates(toleration, each)),
  );
  if (taint !== undefined) return `taint ${taintText(taint)} not tolerated`;
  return mayRunOn(pod, node) ? null : 'nodeSelector or affinity exclude it';
}

function tally(obstacles: readonly (string | null)[]): string {
  const counts = new Map<string, number>();
  for (const obstacle of obstacles) {
    if (obstacle !== null) counts.set(obstacle, (counts.get(obstacle) ?? 0) + 1);
  }
  return listed([...counts].map(([obstacle, count]) => `${count}: ${obstacle}`));
}

/** A plan for another partition than the node has is a plan for another memory. */
function checkProfile(
  { spec, namespace, name }: WantedService,
  resource: string,
  nodes: readonly NodeDevices[],
  findings: Findings,
): void {
  const { profile } = spec.accelerator;
  if (profile === undefined) return;
  const others = nodes.filter((node) => ![null, profile].includes(profileOf(node, resource)));
  if (others.length === 0) return;
  const list = others.map((node) => `${node.name} (${profileOf(node, resource) ?? ''})`);
  findings.warning(
    `${namespace}/${name}: its memory is planned for ${profile}, and ${listed(list)} can take its pod too`,
    'Name the profile that the nodes have, or keep to the right ones by spec.nodeSelector.',
  );
}
