// The GGUF files that a local checkpoint is, if it is in GGUF, and their headers.

import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import { chooseGguf, ggufFiles } from '../../formats/choose-gguf.js';
import type { GgufHeader } from '../../formats/gguf-header.js';
import { parseGgufPartName } from '../../formats/gguf-part-names.js';
import { readGgufHeaders, type GgufFile } from '../../formats/read-gguf-headers.js';

/**
 * The file itself, or the only checkpoint in GGUF of a folder that holds no safetensors, a split one by its first part;
 * else null.
 * @throws FailureError CheckpointIncomplete where the folder holds several
 */
export async function findGguf(model: string): Promise<string | null> {
  if (model.endsWith('.gguf') && (await isFile(model))) return model;
  const names = await readdir(model).catch(() => []);
  const name = chooseGguf(model, names);
  return name === null ? null : join(model, name);
}

/** The folder of a local checkpoint, and the whole header of the GGUF file that it is, if it is one. @throws FailureError */
export async function openLocalModel(
  model: string,
): Promise<{ readonly dir: string; readonly gguf: GgufHeader | null }> {
  const file = await findGguf(model);
  if (file === null) return { dir: model, gguf: null };
  return { dir: dirname(file), gguf: await readLocalGguf(file, { arrays: true }) };
}

/**
 * @param path of the file, or of the first part
 * @throws FailureError ModelNotFound, CheckpointIncomplete, CheckpointCorrupt
 */
export async function readLocalGguf(
  path: string,
  options: { readonly arrays: boolean },
): Promise<GgufHeader> {
  const dir = dirname(path);
  const files: GgufFile[] = [];
  for (const name of await filesOf(dir, basename(path)))
    files.push({ name, bytes: await bytesOf(join(dir, name)) });
  const read = (name: string, begin: number, end: number): Promise<Uint8Array> =>
    readRange(join(dir, name), begin, end);
  return (await readGgufHeaders(files, read, options)).header;
}

/** A whole file needs no folder that can be listed. */
async function filesOf(dir: string, file: string): Promise<string[]> {
  if (parseGgufPartName(file) === null) return [file];
  return ggufFiles(dir, await readdir(dir).catch(() => []), file);
}

async function bytesOf(path: string): Promise<number> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  return size;
}

async function readRange(path: string, begin: number, end: number): Promise<Uint8Array> {
  const handle = await open(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  try {
    const bytes = Buffer.alloc(end - begin);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, begin);
    if (bytesRead === bytes.length) return bytes;
    throw new FailureError('CheckpointCorrupt', `${path} became shorter while it was read`);
  } finally {
    await handle.close();
  }
}

function unreadable(path: string, cause: unknown): FailureError {
  return new FailureError('CheckpointIncomplete', `${path} cannot be read`, undefined, { cause });
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
