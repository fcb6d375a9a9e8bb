// What a node has of accelerators: by its resources, which its device plugin advertises, and by its labels, which
// others write (NVIDIA's GPU feature discovery, AMD's node labeller, node feature discovery). Pure.

import { profilesOfProduct } from '@llmservice/crds';
import type { Node, Taint } from '../kube/types.js';
import { parseAmounts, type Requests } from '../plan/fit/pod-requests.js';

export type Vendor = 'nvidia' | 'amd';

export interface DeviceCount {
  readonly resource: string;
  readonly capacity: number;
  readonly allocatable: number;
  /** Null: the pods of the node are not known. */
  readonly requested: number | null;
}

export interface NodeDevices {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly cordoned: boolean;
  readonly devices: readonly DeviceCount[];
  /** For each vendor whose devices labels name, the label that does. */
  readonly evidence: Readonly<Partial<Record<Vendor, string>>>;
  /** Cards by their labels; several contradict each other. */
  readonly products: readonly string[];
  /** Partition of all cards, such as `cpx_nps4`; null: no label names it. */
  readonly partition: string | null;
}

const deviceResource = /^(nvidia|amd)\.com\//;

export function devicesOf(node: Node, requested: Requests | null): NodeDevices {
  const { metadata, spec, status } = node;
  const labels = metadata.labels ?? {};
  const capacity = parseAmounts(status?.capacity ?? status?.allocatable);
  const allocatable = parseAmounts(status?.allocatable);
  const nvidia = nvidiaProduct(labels);
  return {
    name: metadata.name,
    labels,
    taints: spec?.taints ?? [],
    cordoned: spec?.unschedulable === true,
    devices: Object.entries(capacity)
      .filter(([resource, amount]) => deviceResource.test(resource) && amount > 0)
      .map(([resource, amount]) => ({
        resource,
        capacity: amount,
        allocatable: allocatable[resource] ?? 0,
        requested: requested === null ? null : (requested[resource] ?? 0),
      })),
    evidence: evidenceOf(labels),
    products: [...new Set([...(nvidia === null ? [] : [nvidia.product]), ...amdProducts(labels)])],
    partition: amdPartition(labels) ?? nvidia?.partition ?? null,
  };
}

export function vendorOf(resource: string): Vendor | null {
  return (deviceResource.exec(resource)?.[1] ?? null) as Vendor | null;
}

/** The profile of what a resource of the node gives; null: its labels do not name it, or there is none. */
export function profileOf({ products, partition }: NodeDevices, resource: string): string | null {
  const [product, ...others] = products;
  if (product === undefined || others.length > 0) return null;
  const named = /^(?:nvidia\.com\/mig-|amd\.com\/(?!gpu$))(.+)$/.exec(resource)?.[1];
  const part = named ?? partition;
  const found = profilesOfProduct(product).find(([, { partition: each }]) => each === part);
  return found?.[0] ?? null;
}

/** Whether a card of the node may be divided by AMD's modes. */
export function isPartitionable({ products }: NodeDevices): boolean {
  return products.some((product) =>
    profilesOfProduct(product).some(([, { vendor, partition }]) => vendor === 'amd' && partition !== null),
  );
}

/** As GPU feature discovery writes it: with the strategy `single` the partition follows the product. */
function nvidiaProduct(
  labels: Readonly<Record<string, string>>,
): { product: string; partition: string | null } | null {
  const label = labels['nvidia.com/gpu.product']?.replace(/-SHARED$/, '');
  if (label === undefined) return null;
  const [product = '', partition = null] = label.split('-MIG-');
  return { product, partition };
}

/** One label where all cards are alike, else one for each kind with their number as value. */
function amdProducts(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([label, value]) => {
    const [, kind] = /^(?:beta\.)?amd\.com\/gpu\.product-name(?:\.(.+))?$/.exec(label) ?? [];
    if (kind !== undefined) return [kind];
    return /^(?:beta\.)?amd\.com\/gpu\.product-name$/.test(label) ? [value] : [];
  });
}

function amdPartition(labels: Readonly<Record<string, string>>): string | null {
  const label = labels['amd.com/compute-memory-partition'] ?? labels['amd.com/gpu.compute-memory-partition'];
  return label?.toLowerCase() ?? null;
}

const deviceLabels: Readonly<Record<Vendor, RegExp>> = {
  nvidia:
    /^(nvidia\.com\/gpu\.(present|product|count)|feature\.node\.kubernetes\.io\/pci-(0300_|0302_)?10de\.present)$/,
  amd: /^((beta\.)?amd\.com\/gpu\.(product-name|device-id|vram|family)(\..+)?|feature\.node\.kubernetes\.io\/(amd-gpu|pci-(0380_|1200_)1002\.present))$/,
};

function evidenceOf(labels: Readonly<Record<string, string>>): Partial<Record<Vendor, string>> {
  const found: Partial<Record<Vendor, string>> = {};
  for (const vendor of ['nvidia', 'amd'] as const) {
    const label = Object.entries(labels).find(
      ([name, value]) => deviceLabels[vendor].test(name) && value !== 'false' && value !== '0',
    );
    if (label !== undefined) found[vendor] = label.join('=');
  }
  return found;
}
