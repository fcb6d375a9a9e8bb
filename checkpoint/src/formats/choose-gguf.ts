// Which file of a folder is the checkpoint, where that is a GGUF file.

import { FailureError } from '@llmservice/crds';

/**
 * The only .gguf file among a folder's names; null where it holds none, or safetensors, which come first.
 * @throws FailureError CheckpointIncomplete where there are several
 */
export function chooseGguf(uri: string, names: readonly string[]): string | null {
  if (names.some((name) => /^model\.safetensors(\.index\.json)?$/.test(name))) return null;
  const [first, ...others] = names.filter((name) => name.endsWith('.gguf')).sort();
  if (first === undefined) return null;
  if (others.length === 0) return first;
  throw new FailureError(
    'CheckpointIncomplete',
    `${uri} holds ${String(1 + others.length)} .gguf files: name one of them instead of the folder, for example ${first}`,
  );
}

/** `folder/name.gguf` in two; null for a path that names no GGUF file. */
export function splitGgufPath(path: string): { readonly folder: string; readonly file: string } | null {
  if (!path.endsWith('.gguf')) return null;
  const slash = path.lastIndexOf('/') + 1;
  return { folder: path.slice(0, slash), file: path.slice(slash) };
}
