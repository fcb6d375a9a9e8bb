// Accelerators of the nodes: what there is and what is free, where a device plugin is missing, what labels contradict. Pure.

import { findAccelerator, profilesOfProduct } from '@llmservice/crds';
import type { ClusterFacts } from './facts.js';
import { counted, Findings, listed, type Finding, type Level } from './finding.js';
import {
  devicesOf,
  isPartitionable,
  profileOf,
  vendorOf,
  type DeviceCount,
  type NodeDevices,
} from './node-devices.js';
import { valueOf } from './reading.js';

export function nodeDevices({ nodes, requested }: ClusterFacts): readonly NodeDevices[] {
  if (nodes.state !== 'read') return [];
  return nodes.value.map((node) =>
    devicesOf(node, requested.state === 'read' ? (requested.value.get(node.metadata.name) ?? {}) : null),
  );
}

export function checkNodes(facts: ClusterFacts): readonly Finding[] {
  const findings = new Findings('nodes');
  if (valueOf(facts.nodes, 'nodes', findings) === null) return findings.list;
  const nodes = nodeDevices(facts);
  const withDevices = nodes.filter(({ devices }) => devices.length > 0);
  if (withDevices.length === 0) {
    findings.info(
      `of ${counted(nodes.length, 'node')} none advertises a device of nvidia.com or amd.com: services run on the CPU alone`,
    );
  } else if (facts.requested.state !== 'read') {
    valueOf(facts.requested, 'pods of all namespaces (what is free is not known)', findings);
  }
  for (const resource of new Set(
    withDevices.flatMap(({ devices }) => devices.map((each) => each.resource)),
  )) {
    findings.ok(describeResource(resource, withDevices));
  }
  addComplaints(nodes, findings);
  return findings.list;
}

/** What there is of a resource, and how many the best node has free, which is what one replica can get. */
function describeResource(resource: string, nodes: readonly NodeDevices[]): string {
  const having = nodes.flatMap((node) =>
    node.devices.filter((each) => each.resource === resource).map((device) => ({ node, device })),
  );
  const sum = (of: (device: DeviceCount) => number): number =>
    having.reduce((total, { device }) => total + of(device), 0);
  const profiles = new Set(having.map(({ node }) => profileOf(node, resource) ?? 'no profile by labels'));
  const known = having.every(({ device }) => device.requested !== null);
  const free = having
    .filter(({ node }) => !node.cordoned)
    .map(({ device }) => device.allocatable - (device.requested ?? 0));
  const use = known
    ? `${sum(({ requested }) => requested ?? 0)} requested, at most ${Math.max(0, ...free)} free on one node`
    : 'requests not known';
  return (
    `${resource}: ${sum(({ allocatable }) => allocatable)} allocatable on ${counted(having.length, 'node')} ` +
    `(${listed([...profiles])}); ${use}`
  );
}

interface Complaint {
  readonly level: Exclude<Level, 'ok'>;
  readonly message: string;
  readonly remedy: string;
}

/** The same complaint of many nodes is one finding. */
function addComplaints(nodes: readonly NodeDevices[], findings: Findings): void {
  const named = new Map<string, { complaint: Complaint; names: string[] }>();
  for (const node of nodes) {
    for (const complaint of complaintsOf(node)) {
      const before = named.get(complaint.message);
      if (before === undefined) named.set(complaint.message, { complaint, names: [node.name] });
      else before.names.push(node.name);
    }
  }
  for (const { complaint, names } of named.values()) {
    const { level, message, remedy } = complaint;
    findings[level](`${names.length === 1 ? 'node' : 'nodes'} ${listed(names)}: ${message}`, remedy);
  }
}

function complaintsOf(node: NodeDevices): Complaint[] {
  return [
    ...missingPlugins(node),
    ...unhealthyDevices(node),
    ...contradictions(node),
    ...unknownProducts(node),
    ...unlabelledPartitions(node),
    ...(node.cordoned && node.devices.length > 0 ? [cordoned] : []),
  ];
}

const cordoned: Complaint = {
  level: 'info',
  message: 'cordoned, so that no new pod gets its devices',
  remedy: 'kubectl uncordon it when its maintenance is over.',
};

function missingPlugins({ evidence, devices }: NodeDevices): Complaint[] {
  const plugins = {
    nvidia: "NVIDIA's device plugin (k8s-device-plugin, or the GPU operator)",
    amd: "AMD's device plugin (ROCm/k8s-device-plugin, or the GPU operator)",
  };
  return (['nvidia', 'amd'] as const)
    .filter(
      (vendor) =>
        evidence[vendor] !== undefined && !devices.some((each) => vendorOf(each.resource) === vendor),
    )
    .map((vendor) => ({
      level: 'problem',
      message: `label ${evidence[vendor] ?? ''} says that it has devices, but no resource of ${vendor}.com is advertised`,
      remedy: `Run ${plugins[vendor]} there: look at its pod on the node, and at the driver.`,
    }));
}

function unhealthyDevices({ devices }: NodeDevices): Complaint[] {
  return devices
    .filter(({ capacity, allocatable }) => allocatable < capacity)
    .map(({ resource, capacity, allocatable }) => ({
      level: 'warning',
      message: `${capacity - allocatable} of ${capacity} ${resource} are not allocatable`,
      remedy:
        'The device plugin holds them for unhealthy: look at its log and at the driver (dmesg, nvidia-smi, amd-smi).',
    }));
}

function contradictions(node: NodeDevices): Complaint[] {
  const { products, partition, devices } = node;
  const found: Complaint[] = [];
  if (products.length > 1) {
    found.push({
      level: 'warning',
      message: `labels name different cards: ${listed(products)}; a pod gets any of them`,
      remedy: 'Remove stale labels. Where the cards do differ, keep services off by nodeSelector or a taint.',
    });
  }
  const named = devices
    .map(({ resource }) => /^amd\.com\/(\w+_nps\d)$/.exec(resource)?.[1])
    .filter((each) => each !== undefined);
  if (partition !== null && named.length > 0 && !named.includes(partition)) {
    found.push({
      level: 'problem',
      message: `label amd.com/compute-memory-partition says ${partition}, the resources say ${listed(named)}`,
      remedy: 'Restart the node labeller there: it read the partitions before they were changed.',
    });
  }
  return [...found, ...oddCounts(node)];
}

/** Cards are divided whole: partitions come in the number that a card has. */
function oddCounts(node: NodeDevices): Complaint[] {
  return node.devices.flatMap(({ resource, capacity }) => {
    const profile = findAccelerator(profileOf(node, resource) ?? '');
    const card = findAccelerator(
      profileOf({ ...node, partition: null }, `${profile?.vendor ?? ''}.com/gpu`) ?? '',
    );
    if (profile?.vendor !== 'amd' || card === null) return [];
    const parts = Math.round(card.memoryMiB / profile.memoryMiB);
    if (capacity % parts === 0) return [];
    return [
      {
        level: 'warning' as const,
        message: `${capacity} ${resource} are no multiple of the ${parts} partitions that a card in ${profile.partition ?? ''} has`,
        remedy:
          'Some partitions are not advertised, or the label is stale: compare with amd-smi on the node.',
      },
    ];
  });
}

function unknownProducts({ products }: NodeDevices): Complaint[] {
  return products
    .filter((product) => profilesOfProduct(product).length === 0)
    .map((product) => ({
      level: 'info',
      message: `there is no profile for ${product}`,
      remedy: 'Services there state accelerator.resourceName and accelerator.memoryPerDevice.',
    }));
}

function unlabelledPartitions(node: NodeDevices): Complaint[] {
  const whole = node.devices.some(({ resource }) => resource === 'amd.com/gpu');
  if (!whole || node.partition !== null || !isPartitionable(node)) return [];
  return [
    {
      level: 'warning',
      message: 'no label names the partition mode: one amd.com/gpu may be a whole card or an eighth of it',
      remedy:
        'Run the node labeller with -compute-memory-partition (GPU operator: devicePlugin.nodeLabellerArguments).',
    },
  ];
}
