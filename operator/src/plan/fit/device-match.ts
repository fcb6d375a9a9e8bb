// Which of the devices that drivers list a claim selects, and how many of these are free. The scheduler alone allocates: a
// device that shares its parts with an allocated one counts as free here.

import type { DeviceMatch } from '../../domain/wanted-service.js';
import { productPattern } from '../../resource/device-claim.js';

/** As a driver lists it in a ResourceSlice. */
export interface ListedDevice {
  readonly driver: string;
  /** Null: of no single node. */
  readonly node: string | null;
  /** Texts alone, by name without the driver's. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly taken: boolean;
}

const maxNodes = 5;

/** A sentence or two about devices that a pod waits for. */
export function describeDevices(match: DeviceMatch, devices: readonly ListedDevice[]): string {
  const meant = devices.filter((device) => isMeant(match, device));
  if (meant.length === 0) {
    const others = devices.filter(({ driver }) => driver === match.driver).map(wordsOf);
    const listed = [...new Set(others)].slice(0, maxNodes).join(', ');
    return (
      `No driver lists a device that the claim selects: ${wordsOf(match)}. ` +
      (listed === ''
        ? `${match.driver} lists none at all: check that it runs (kubectl get resourceslices).`
        : `${match.driver} lists ${listed}: correct spec.accelerator.profile.`)
    );
  }
  const nodes = new Map<string, ListedDevice[]>();
  for (const device of meant) nodes.set(device.node ?? '', [...(nodes.get(device.node ?? '') ?? []), device]);
  const byNode = [...nodes].map(([node, of]) => `${node === '' ? 'no node' : node} ${freeOf(of)}`);
  const rest = byNode.length > maxNodes ? `, and ${String(byNode.length - maxNodes)} more nodes` : '';
  return (
    `Of devices that the claim selects (${wordsOf(match)}) are free: ${byNode.slice(0, maxNodes).join(', ')}${rest}. ` +
    'Free devices on a node, add a node that has them, or ask for fewer.'
  );
}

function isMeant({ driver, product, attributes }: DeviceMatch, device: ListedDevice): boolean {
  return (
    device.driver === driver &&
    new RegExp(productPattern(product)).test(device.attributes['productName'] ?? '') &&
    Object.entries(attributes).every(([name, value]) => device.attributes[name] === value)
  );
}

function freeOf(devices: readonly ListedDevice[]): string {
  return `${String(devices.filter(({ taken }) => !taken).length)} of ${String(devices.length)}`;
}

/** Card, type and partition, of what is meant or of what is there. */
function wordsOf(device: DeviceMatch | ListedDevice): string {
  const { type = '', profile = '', partitionProfile = profile } = device.attributes;
  const product = 'product' in device ? device.product : (device.attributes['productName'] ?? 'no product');
  return [product, type, partitionProfile].filter((word) => word !== '').join(' ');
}
