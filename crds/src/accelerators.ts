// Accelerators by the name of their profile: what one device is, before one is taken.

import { accelerators } from './generated/accelerators.js';

export interface Accelerator {
  readonly vendor: 'nvidia' | 'amd';
  /** Of its code objects, such as `sm_90a` or `gfx942`. */
  readonly architecture: string;
  /** Of one device, in total. */
  readonly memoryMiB: number;
  /** Of one device's memory, GB/s. */
  readonly bandwidth: number;
  /** The FP8 format of its matrix units. */
  readonly fp8: 'none' | 'e4m3' | 'e4m3fnuz';
  /** Threads that run in step. */
  readonly wave: 32 | 64;
  /** Extended resources that may stand for it; the first where nothing else is said. */
  readonly resources: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The card, as labels of nodes name it; `*` stands for any text. */
  readonly product: string;
  /** Which part of the card it is, as labels and resources name it, such as `cpx_nps4` or `1g.10gb`; null: all. */
  readonly partition: string | null;
}

const profiles: ReadonlyMap<string, Accelerator> = new Map(Object.entries<Accelerator>(accelerators));

/** Null: there is no such profile. */
export function findAccelerator(profile: string): Accelerator | null {
  return profiles.get(profile) ?? null;
}

/** Profiles of a card and of its partitions, by the product that a node's label names. */
export function profilesOfProduct(product: string): (readonly [profile: string, accelerator: Accelerator])[] {
  return [...profiles].filter(([, accelerator]) => {
    const parts = accelerator.product.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`).test(product);
  });
}

/** Names of profiles that begin like this one, or all cards where none does. */
export function profilesLike(profile: string): string[] {
  const names = [...profiles.keys()];
  const card = profile.split('-')[0] ?? '';
  const like = names.filter((name) => name.startsWith(card));
  return card === '' || like.length === 0 ? names.filter((name) => !/\dg\.|nps/.test(name)) : like;
}
