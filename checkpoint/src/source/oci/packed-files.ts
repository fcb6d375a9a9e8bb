// The files of a compressed archive. Their digests are found by one way through all of it, whose end is compared with the digest
// of the layer; where headers alone are wanted, no more is read than names them.

import { createHash } from 'node:crypto';
import type { FileDigest } from '../byte-source.js';
import { StoreHttpError } from '../http/http-client.js';
import type { Layer } from './artifact-manifest.js';
import { tarMembers, type ReadArchive, type TarBudget } from './tar-members.js';
import type { UnpackedLayer } from './unpacked-layer.js';

interface PackedFile {
  readonly path: string;
  /** Of its first byte in the archive. */
  readonly begin: number;
  readonly bytes: number;
  readonly version: string;
  /** Null: its content was not read. */
  readonly digest: FileDigest | null;
}

/**
 * @param only path of the file that is alone in it by its manifest; null: it may have several
 * @param look `whole`: all of it is read and compared; `headers`: what is known by the headers is enough
 * @throws StoreHttpError
 */
export async function packedFiles(
  { digest: id }: Layer,
  only: string | null,
  unpacked: UnpackedLayer,
  budget: TarBudget,
  look: 'whole' | 'headers',
): Promise<readonly PackedFile[]> {
  const digests = new Map<number, FileDigest>();
  const members = await tarMembers(headersOf(unpacked), Infinity, budget, async ({ path, begin, bytes }) => {
    if (look === 'headers') return only === null || !isSame(path, only);
    const hash = createHash('sha256');
    for await (const chunk of unpacked.read(begin, begin + bytes)) hash.update(chunk);
    digests.set(begin, { algorithm: 'sha256', hex: hash.digest('hex') });
    return true;
  });
  if (look === 'whole') {
    const found = await unpacked.finish();
    if (found !== id)
      throw new StoreHttpError('DigestMismatch', null, `the layer ${id} has the digest ${found}`);
  }
  return members.map(({ path, begin, bytes }) => {
    return { path, begin, bytes, version: `${id}+${String(begin)}`, digest: digests.get(begin) ?? null };
  });
}

/** An archive may end with its last file, without the blocks of zeros that mark an end. */
function headersOf(unpacked: UnpackedLayer): ReadArchive {
  return async (begin, end) => {
    const chunks: Buffer[] = [];
    for await (const chunk of unpacked.read(begin, end)) chunks.push(chunk);
    return chunks.length === 0 ? Buffer.alloc(end - begin) : Buffer.concat(chunks);
  };
}

function isSame(path: string, named: string): boolean {
  const plain = (text: string): string =>
    text
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/');
  return plain(path) === plain(named);
}
