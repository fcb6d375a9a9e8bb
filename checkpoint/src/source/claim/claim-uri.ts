// pvc://CLAIM[/FOLDER][/FILE.gguf]: a folder on a PersistentVolumeClaim of the service's namespace. Pods alone can read it.

import { splitGgufPath } from '../../formats/choose-gguf.js';

export interface ClaimPlace {
  /** Name of the PersistentVolumeClaim. */
  readonly claim: string;
  /** Empty, or ends with a slash. */
  readonly folder: string;
  /** The GGUF file in the folder that is meant; null for the folder. */
  readonly file: string | null;
}

/** DNS subdomains, as Kubernetes names claims. */
const name = /[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*/.source;
const form = new RegExp(`^pvc://(?<claim>${name})(?:/(?<path>[^?#\\s]*))?$`);
const maxName = 253;

/** Null: it is not of that form. */
export function parseClaimUri(uri: string): ClaimPlace | null {
  const { claim, path = '' } = form.exec(uri)?.groups ?? {};
  if (claim === undefined || claim.length > maxName) return null;
  const gguf = splitGgufPath(path);
  const parts = (gguf?.folder ?? path).split('/').filter((part) => part !== '');
  if (parts.some((part) => /^\.+$/.test(part))) return null;
  return { claim, folder: parts.map((part) => `${part}/`).join(''), file: gguf?.file ?? null };
}

/** Of the folder, for messages: ends with a slash. */
export function claimUri({ claim, folder }: Pick<ClaimPlace, 'claim' | 'folder'>): string {
  return `pvc://${claim}/${folder}`;
}
