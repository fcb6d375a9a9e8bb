// The ResourceClaim that a spec asks for devices by. What the devices are comes from the profile, in the words of the
// vendors' own drivers: gpu.nvidia.com (NVIDIA/k8s-dra-driver-gpu) and gpu.amd.com (ROCm/k8s-gpu-dra-driver).

import type { Accelerator as Profile, LlmServiceSpec } from '@llmservice/crds';
import type { DeviceClaim, DeviceMatch } from '../domain/wanted-service.js';

type Claim = LlmServiceSpec['accelerator']['claim'];

/** @param profile null where the spec is wrong */
export function deviceClaimOf(claim: Claim, profile: Profile | null): DeviceClaim | null {
  if (claim === undefined || profile === null) return null;
  const { templateName, deviceClassName, selectors } = claim;
  if (templateName !== undefined) return { state: 'named', templateName };
  const match = matchOf(profile);
  return {
    state: 'planned',
    deviceClass: deviceClassName ?? deviceClassOf(profile),
    selectors: selectors ?? selectorsOf(match),
    match: selectors === undefined ? match : null,
  };
}

function deviceClassOf({ vendor, partition }: Profile): string {
  if (vendor === 'amd') return 'gpu.amd.com';
  return partition === null ? 'gpu.nvidia.com' : 'mig.nvidia.com';
}

function matchOf({ vendor, partition, product }: Profile): DeviceMatch {
  if (vendor === 'nvidia') {
    const attributes = partition === null ? { type: 'gpu' } : { type: 'mig', profile: partition };
    return { driver: 'gpu.nvidia.com', product, attributes };
  }
  // A card in one piece is no partition to AMD's driver, whatever its mode.
  const isWhole = partition === null || partition.startsWith('spx');
  const type = isWhole ? 'amdgpu' : 'amdgpu-partition';
  const attributes = partition === null ? { type } : { type, partitionProfile: partition };
  return { driver: 'gpu.amd.com', product, attributes };
}

/** An attribute that a device lacks would end the whole allocation with an error: hence has(). */
function selectorsOf({ driver, product, attributes }: DeviceMatch): string[] {
  const field = (name: string): string => `device.attributes['${driver}'].${name}`;
  return [
    `has(${field('productName')}) && ${field('productName')}.matches('${productPattern(product)}')`,
    ...Object.entries(attributes).map(
      ([name, value]) => `has(${field(name)}) && ${field(name)} == '${value}'`,
    ),
  ];
}

/** Labels of nodes cannot have the blanks that drivers write. */
export function productPattern(product: string): string {
  const parts = product.split('*').map((part) => part.replace(/[-_]/g, '[ _-]'));
  return `^${parts.join('.*')}$`;
}
