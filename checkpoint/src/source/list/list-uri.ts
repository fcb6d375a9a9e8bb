// https://HOST/PATH/LIST.json[@sha256:DIGEST][/FOLDER][/FILE.gguf]: a list of files with their digests. Over http:// whoever
// stands between could give another list: there its digest is part of the URI.

import { splitGgufPath } from '../../formats/choose-gguf.js';
import type { CheckpointFolder } from '../checkpoint-pin.js';

/** A folder of the files that a list names. */
export interface ListPlace {
  /** URL of the list. */
  readonly list: string;
  /** SHA-256 of the list, in hexadecimal digits; null: whatever lies there. */
  readonly digest: string | null;
  /** Empty, or ends with a slash. */
  readonly folder: string;
  /** The GGUF file in the folder that is meant; null for the folder. */
  readonly file: string | null;
}

const host = /[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?/.source;
const form = new RegExp(
  `^(?<list>(?<scheme>https?)://${host}/(?<path>[^?#\\s]*?[^/?#\\s]\\.json))(?:@sha256:(?<digest>[0-9a-f]{64}))?(?:/(?<below>[^?#\\s]*))?$`,
);

/** Null: it is not of that form. */
export function parseListUri(uri: string): ListPlace | null {
  const { list, scheme, path = '', digest = null, below = '' } = form.exec(uri)?.groups ?? {};
  if (list === undefined || !URL.canParse(list) || (scheme === 'http' && digest === null)) return null;
  const gguf = splitGgufPath(below);
  const parts = (gguf?.folder ?? below).split('/').filter((part) => part !== '');
  if ([...parts, ...path.split('/')].some((part) => /^\.+$/.test(part))) return null;
  const folder = parts.map((part) => `${part}/`).join('');
  return { list, digest, folder, file: gguf?.file ?? null };
}

/** For messages, and as the base of its files' names. */
export function listUri({ list, digest, folder }: Omit<ListPlace, 'file'>): string {
  return `${list}${digest === null ? '' : `@sha256:${digest}`}/${folder}`;
}

/** The place in a checkpoint's pin: two lists at one place that name equal files are one checkpoint. */
export function listFolder({ list, folder, file }: ListPlace): CheckpointFolder {
  return { endpoint: new URL(list).origin, bucket: new URL(list).pathname, prefix: folder, file };
}
