// What is known of the classes of the cluster by whoever resolves one.

import type { KubeObject } from '../../kube/types.js';

export type KnownClasses =
  | {
      readonly state: 'known';
      readonly get: (name: string) => KubeObject | null;
      readonly names: () => readonly string[];
    }
  /** The cluster does not know the kind. */
  | { readonly state: 'absent' }
  /** The operator may not read it. */
  | { readonly state: 'forbidden' };

/** @param classes of one name, the first counts */
export function knownClasses(classes: readonly KubeObject[]): KnownClasses {
  return {
    state: 'known',
    get: (name) => classes.find(({ metadata }) => metadata.name === name) ?? null,
    names: () => [...new Set(classes.map(({ metadata }) => metadata.name))].sort(),
  };
}
