// oci://REGISTRY/REPOSITORY[:TAG|@sha256:DIGEST][/FOLDER][/FILE.gguf], as container tools name images. A folder or file needs the
// tag or digest before it, or it would be a part of the repository's name.

import { splitGgufPath } from '../../formats/choose-gguf.js';
import type { CheckpointFolder } from '../checkpoint-pin.js';

/** A folder of an artifact in a registry. */
export interface OciPlace {
  /** Host, with its port where it has one. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or sha256:DIGEST. */
  readonly reference: string;
  /** Empty, or ends with a slash. */
  readonly folder: string;
  /** The GGUF file in the folder that is meant; null for the folder. */
  readonly file: string | null;
}

const host = /[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?/.source;
const part = /[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*/.source;
const reference = /(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?/.source;
const form = new RegExp(`^oci://(${host})/(${part}(?:/${part})*)(${reference})(?:/([^?#\\s]*))?$`);

/** Null: it is not of that form. */
export function parseOciUri(uri: string): OciPlace | null {
  const [, registry, repository, named = '', path = ''] = form.exec(uri) ?? [];
  if (registry === undefined || repository === undefined) return null;
  const gguf = splitGgufPath(path);
  const parts = (gguf?.folder ?? path).split('/').filter((each) => each !== '');
  if (parts.some((each) => /^\.+$/.test(each))) return null;
  // Without tag and digest a file would be a part of the repository.
  if (named === '' && path !== '') return null;
  const [tag = '', digest] = named.split('@');
  return {
    registry,
    repository,
    // Where both are given, the digest counts.
    reference: digest ?? (tag === '' ? 'latest' : tag.slice(1)),
    folder: parts.map((each) => `${each}/`).join(''),
    file: gguf?.file ?? null,
  };
}

/** For messages, and as the base of its files' names. */
export function ociUri({ registry, repository, reference: named, folder }: OciPlace): string {
  return `oci://${registry}/${repository}${named.includes(':') ? '@' : ':'}${named}/${folder}`;
}

/** The place in a checkpoint's pin: two tags with equal files are one checkpoint. */
export function ociFolder({ registry, repository, folder, file }: OciPlace): CheckpointFolder {
  return { endpoint: registry, bucket: repository, prefix: folder, file };
}

/** Where the registry answers. Docker Hub does so under another name than that of its images. */
export function registryEndpoint(registry: string, plainHttp: boolean): string {
  const answering = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  return `${plainHttp ? 'http' : 'https'}://${answering}`;
}
