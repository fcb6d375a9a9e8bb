// Which of the devices that drivers list a claim selects, and whether enough of these are free. The scheduler alone allocates: a
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
  /** Uids of the pods that it is reserved for; null: it is free. */
  readonly holders: readonly string[] | null;
}

const maxListed = 5;

/** Says neither where devices are nor how many: tenants read it, and each allocation in the cluster would change it. */
export function describeDevices(match: DeviceMatch, count: number, devices: readonly ListedDevice[]): string {
  const meant = devices.filter((device) => isMeant(match, device));
  if (meant.length === 0) {
    const others = devices.filter(({ driver }) => driver === match.driver).map(wordsOf);
    const listed = [...new Set(others)].sort().slice(0, maxListed).join(', ');
    return (
      `No driver lists a device that the claim selects: ${wordsOf(match)}. ` +
      (listed === ''
        ? `${match.driver} lists none at all: check that it runs (kubectl get resourceslices).`
        : `${match.driver} lists ${listed}: correct spec.accelerator.profile.`)
    );
  }
  const free = meant.filter(({ holders }) => holders === null);
  const selected = `devices that the claim selects (${wordsOf(match)})`;
  if (free.length === 0) return `None of the ${selected} is free. Free some, or add a node that has them.`;
  const nodes = new Set(free.map(({ node }) => node));
  const most = Math.max(...[...nodes].map((name) => free.filter(({ node }) => node === name).length));
  return most < count
    ? `Fewer ${selected} are free on every node than the pod asks for. ` +
        'Free some on one node, add a node that has them, or ask for fewer.'
    : `A node has enough free ${selected}, as far as they are listed. Check that the pod may run there ` +
        '(spec.nodeSelector, spec.affinity, spec.tolerations) and that no allocated device shares their cards.';
}

export function isMeant({ driver, product, attributes }: DeviceMatch, device: ListedDevice): boolean {
  return (
    device.driver === driver &&
    new RegExp(productPattern(product)).test(device.attributes['productName'] ?? '') &&
    Object.entries(attributes).every(([name, value]) => device.attributes[name] === value)
  );
}

/** Card, type and partition, of what is meant or of what is there. */
function wordsOf(device: DeviceMatch | ListedDevice): string {
  const { type = '', profile = '', partitionProfile = profile } = device.attributes;
  const product = 'product' in device ? device.product : (device.attributes['productName'] ?? 'no product');
  return [product, type, partitionProfile].filter((word) => word !== '').join(' ');
}
