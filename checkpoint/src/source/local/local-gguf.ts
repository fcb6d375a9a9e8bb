// The GGUF file that a local checkpoint is, if it is one, and its header.

import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import { chooseGguf } from '../../formats/choose-gguf.js';
import type { GgufHeader } from '../../formats/gguf-header.js';
import { readGgufHeader } from '../../formats/read-gguf-header.js';

/**
 * The file itself, or the only .gguf file of a folder that holds no safetensors; else null.
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

/** @throws FailureError CheckpointIncomplete, CheckpointCorrupt */
export async function readLocalGguf(
  path: string,
  options: { readonly arrays: boolean },
): Promise<GgufHeader> {
  const handle = await open(path).catch((cause: unknown) => {
    throw new FailureError('CheckpointIncomplete', `${path} cannot be read`, undefined, { cause });
  });
  try {
    const { size } = await handle.stat();
    const read = async (begin: number, end: number): Promise<Uint8Array> => {
      const bytes = Buffer.alloc(end - begin);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, begin);
      if (bytesRead === bytes.length) return bytes;
      throw new FailureError('CheckpointCorrupt', `${path} became shorter while it was read`);
    };
    return (await readGgufHeader(basename(path), size, read, options)).header;
  } finally {
    await handle.close();
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
