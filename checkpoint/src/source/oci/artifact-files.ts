// The files of an artifact as a flat folder: those of its layers that lie in one folder of it. A file is a whole layer, or a
// range of one that is an archive.

import { flatNameOf, isNestedFile } from '../../config/nested-files.js';
import type { FileDigest } from '../byte-source.js';
import { StoreHttpError } from '../http/http-client.js';
import type { Layer } from './artifact-manifest.js';
import type { Compression } from './expanded.js';
import { packedFiles } from './packed-files.js';
import { tarMembers, type ReadArchive, type TarMember } from './tar-members.js';
import type { UnpackedLayer } from './unpacked-layer.js';

/** Where a file lies. */
export interface ArtifactFile {
  /** Digest of the layer. */
  readonly layer: string;
  /** Of its first byte in the layer. */
  readonly begin: number;
  readonly bytes: number;
  /** Differs between contents. */
  readonly version: string;
  readonly digest: FileDigest | null;
  /** What the layer holds, of which `begin` counts the bytes; null: the layer itself. */
  readonly unpacked: UnpackedLayer | null;
}

/** Bytes [begin, end) of a layer. */
export type ReadLayer = (layer: Layer, begin: number, end: number) => Promise<Buffer>;
/** Of one that is compressed. */
export type UnpackLayer = (layer: Layer, compression: Compression) => UnpackedLayer;

/** Headers are read so many bytes at once: several small files take one read. */
const windowBytes = 16 * 1024;
/** Of what may lie before the only file of an archive, and behind it: it is kept. GNU tar fills up to 10 KiB. */
const maxAroundBytes = 16 * 1024;
/** What is kept of an artifact is of its author's choice: so many files of archives, in all layers. */
const maxMembers = 4_000;
/** What Linux takes. */
const maxPathBytes = 4_096;

/**
 * By name.
 * @param folder empty, or ends with a slash
 * @throws StoreHttpError where a layer cannot be looked into
 */
export async function artifactFiles(
  layers: readonly Layer[],
  folder: string,
  read: ReadLayer,
  packed: { readonly unpack: UnpackLayer; readonly look: 'whole' | 'headers' },
): Promise<ReadonlyMap<string, ArtifactFile>> {
  const files = new Map<string, ArtifactFile>();
  const add = (path: string, file: ArtifactFile): void => {
    const name = nameIn(folder, path);
    // As in images, a later layer replaces what an earlier one has.
    if (name !== null) files.set(name, file);
  };
  const budget = { members: maxMembers };
  for (const layer of layers) {
    const { digest: id, bytes, content } = layer;
    if (content.kind === 'file') {
      const hex = id.slice('sha256:'.length);
      const digest = { algorithm: 'sha256', hex } as const;
      add(content.path, { layer: id, begin: 0, bytes, version: id, digest, unpacked: null });
      continue;
    }
    if (content.compression !== null) {
      const unpacked = packed.unpack(layer, content.compression);
      for (const { path, ...file } of await packedFiles(layer, content.path, unpacked, budget, packed.look))
        add(path, { layer: id, ...file, unpacked });
      continue;
    }
    const window = windowed((begin, end) => read(layer, begin, end), bytes);
    const members = await tarMembers(window, bytes, budget);
    for (const member of members) {
      const digest = members.length === 1 ? await digestOf(layer, member, window) : null;
      const version = `${id}+${String(member.begin)}`;
      const { begin, bytes: size } = member;
      add(member.path, { layer: id, begin, bytes: size, version, digest, unpacked: null });
    }
  }
  return files;
}

/** The archive's own digest is that of its only file, with what lies around it. */
async function digestOf(
  { digest, bytes }: Layer,
  member: TarMember,
  read: ReadArchive,
): Promise<FileDigest | null> {
  const end = member.begin + member.bytes;
  if (member.begin > maxAroundBytes || bytes - end > maxAroundBytes) return null;
  // Copies: what was read is a part of more.
  const before = Buffer.from(await read(0, member.begin));
  const around = { before, after: Buffer.from(await read(end, bytes)) };
  return { algorithm: 'sha256', hex: digest.slice('sha256:'.length), around };
}

/** Null: it lies elsewhere, or is the folder itself. */
function nameIn(folder: string, path: string): string | null {
  if (Buffer.byteLength(path) > maxPathBytes)
    throw new StoreHttpError('InvalidPath', null, 'a path of the artifact is longer than 4 KiB');
  if (/\p{Cc}/u.test(path))
    throw new StoreHttpError('InvalidPath', null, 'a path of the artifact has control characters');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return null;
  const plain = parts.join('/');
  if (!plain.startsWith(folder)) return null;
  const below = plain.slice(folder.length);
  if (below === '' || isNestedFile(below)) return null;
  return below.includes('/') ? flatNameOf(below) : below;
}

/** One read for all that lies near. */
function windowed(read: ReadArchive, bytes: number): ReadArchive {
  let held: { readonly begin: number; readonly content: Buffer } = { begin: 0, content: Buffer.alloc(0) };
  return async (begin, end) => {
    if (begin === end) return Buffer.alloc(0);
    const isHeld = begin >= held.begin && end <= held.begin + held.content.length;
    if (!isHeld)
      held = { begin, content: await read(begin, Math.min(bytes, Math.max(end, begin + windowBytes))) };
    return held.content.subarray(begin - held.begin, end - held.begin);
  };
}
