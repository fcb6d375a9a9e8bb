// Which files of a folder are the checkpoint, where that is in GGUF: one file, or all parts of a split one.

import { FailureError } from '@llmservice/crds';
import { firstGgufPart, ggufPartNames, parseGgufPartName } from './gguf-part-names.js';
import { missingFiles } from './safetensors-index.js';

/** Of several checkpoints in a folder, so many are named. */
const namedCheckpoints = 5;

/**
 * The only checkpoint in GGUF among a folder's names, a split one by its first part; null where it holds none, or
 * safetensors, which come first.
 * @throws FailureError CheckpointIncomplete where there are several
 */
export function chooseGguf(uri: string, names: readonly string[]): string | null {
  if (names.some((name) => /^model\.safetensors(\.index\.json)?$/.test(name))) return null;
  const files = names.filter((name) => name.endsWith('.gguf'));
  const [first, ...others] = [...new Set(files.map(firstGgufPart))].sort();
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const all = [first, ...others];
  const named = all.slice(0, namedCheckpoints).map((file) => described(file, files));
  const more = all.length > named.length ? ` and ${String(all.length - named.length)} more` : '';
  throw new FailureError(
    'CheckpointIncomplete',
    `${uri} holds ${String(all.length)} checkpoints in GGUF, ${named.join(', ')}${more}: name one of them instead of ` +
      `the folder, for example ${first}`,
  );
}

function described(first: string, files: readonly string[]): string {
  const part = parseGgufPartName(first);
  if (part === null) return first;
  const there = files.filter((file) => firstGgufPart(file) === first);
  return `${first} (${String(there.length)} of ${String(part.count)} parts)`;
}

/**
 * All files of the checkpoint that `file` names, in their order.
 * @param names of the folder's files
 * @throws FailureError ModelNotFound where it is not there, or is a part other than the first; CheckpointIncomplete where
 *   parts are missing
 */
export function ggufFiles(uri: string, names: readonly string[], file: string): string[] {
  const part = parseGgufPartName(file);
  if (part !== null && part.number !== 1) {
    throw new FailureError(
      'ModelNotFound',
      `${file} is part ${String(part.number)} of ${String(part.count)} of a split checkpoint: name the first part ` +
        `instead, ${firstGgufPart(file)}, or the folder`,
    );
  }
  const files = ggufPartNames(file);
  const there = new Set(names);
  const missing = files.filter((each) => !there.has(each));
  if (missing.length === files.length) throw new FailureError('ModelNotFound', `${uri} has no ${file}`);
  if (missing.length > 0) throw missingFiles(missing);
  return files;
}

/** `folder/name.gguf` in two; null for a path that names no GGUF file. */
export function splitGgufPath(path: string): { readonly folder: string; readonly file: string } | null {
  if (!path.endsWith('.gguf')) return null;
  const slash = path.lastIndexOf('/') + 1;
  return { folder: path.slice(0, slash), file: path.slice(slash) };
}
