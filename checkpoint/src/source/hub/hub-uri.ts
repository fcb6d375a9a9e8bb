// hf://OWNER/NAME[@REVISION][/FOLDER][/FILE.gguf], as clients of the Hugging Face Hub write it; a slash in a revision is %2F.

import { splitGgufPath } from '../../formats/choose-gguf.js';
import type { CheckpointFolder } from '../checkpoint-pin.js';

export const defaultHubEndpoint = 'https://huggingface.co';

/** A folder of a repository at a revision. */
export interface HubPlace {
  /** OWNER/NAME */
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** Empty, or ends with a slash. */
  readonly folder: string;
  /** The GGUF file in the folder that is meant; null for the folder. */
  readonly file: string | null;
}

const form = /^hf:\/\/([\w.-]+\/[\w.-]+)(?:@([^/?#\s]+))?(?:\/([^?#\s]*))?$/;

/** Null: it is not of that form. */
export function parseHubUri(uri: string): HubPlace | null {
  const [, repository, revision = 'main', path = ''] = form.exec(uri) ?? [];
  if (repository === undefined) return null;
  const gguf = splitGgufPath(path);
  const parts = (gguf?.folder ?? path).split('/').filter((part) => part !== '');
  if ([...repository.split('/'), ...parts].some((part) => /^\.+$/.test(part))) return null;
  const decoded = decode(revision);
  if (decoded === null) return null;
  const folder = parts.map((part) => `${part}/`).join('');
  return { repository, revision: decoded, folder, file: gguf?.file ?? null };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The place in a checkpoint's pin: two revisions with equal files are one checkpoint. */
export function hubFolder(endpoint: string, { repository, folder, file }: HubPlace): CheckpointFolder {
  return { endpoint, bucket: repository, prefix: folder, file };
}
