// Files in folders that other processes write to as well: only plain ones are opened, and no link is followed. What else
// may have a file's name: a link out of the folder, a pipe that would never answer, a folder.

import { FailureError } from '@llmservice/crds';
import { shownPath } from '@llmservice/crds/held-folder';
import { closeSync, constants, fstatSync, openSync, unlinkSync } from 'node:fs';
import { open, rename, unlink, type FileHandle } from 'node:fs/promises';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
/** Without waiting for the other end of a pipe. */
const always = O_NOFOLLOW | O_NONBLOCK;
const mode = 0o666;
const isNoFile = ['ELOOP', 'EISDIR', 'ENXIO'];
/** Of a journal or manifest; ours have some hundred bytes a file. */
const maxTextBytes = 64 * 2 ** 20;

/** @throws FailureError WeightsCacheUnsafe; Error of the system */
export async function openPlain(path: string, flags: number): Promise<FileHandle> {
  const handle = await open(path, flags | always, mode).catch((error: unknown) => {
    throw translated(error, path);
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw unsafe(path);
}

/** @returns a descriptor @throws as `openPlain` */
export function openPlainSync(path: string, flags: number): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, flags | always, mode);
  } catch (error) {
    throw translated(error, path);
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw unsafe(path);
}

/** A file of its own to read and write, in the place of what had the name. @throws as `openPlain` */
export function makePlainSync(path: string): number {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw translated(error, path);
  }
  return openPlainSync(path, O_RDWR | O_CREAT | O_EXCL);
}

/** @throws as `openPlain`, also for a file that is longer than any of ours */
export async function readPlainText(path: string): Promise<string> {
  const handle = await openPlain(path, O_RDONLY);
  try {
    if ((await handle.stat()).size > maxTextBytes) throw unsafe(path);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** At once, in the place of what had the name. @throws as `openPlain` */
export async function writePlainText(
  path: string,
  text: string,
  { sync = false }: { readonly sync?: boolean } = {},
): Promise<void> {
  const written = `${path}.new`;
  await removePlain(written);
  const handle = await openPlain(written, O_WRONLY | O_CREAT | O_EXCL);
  try {
    await handle.writeFile(text);
    if (sync) await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(written, path);
}

/** The name, and not what a link leads to. Where it is nobody's, nothing happens. @throws as `openPlain` */
export async function removePlain(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw translated(error, path);
  });
}

function translated(error: unknown, path: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return isNoFile.includes(code) ? unsafe(path, error) : error;
}

function unsafe(path: string, cause?: unknown): FailureError {
  const message = `${shownPath(path)} is a link, or something else that is not a file of ours: remove it`;
  return new FailureError('WeightsCacheUnsafe', message, undefined, { cause });
}
