// A compressed stream as what it holds.

import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { StoreHttpError } from '../http/http-client.js';

export type Compression = 'gzip' | 'zstd';

/** As a power of two, 128 MiB: what `zstd --ultra -22` and `--long` take, and what zstd itself takes unasked. */
const zstdWindow = 27;
const programs = {
  gzip: () => createGunzip(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: zstdWindow } }),
};

/** @throws what `body` throws; StoreHttpError where it holds no such content */
export async function* expanded(body: Readable, compression: Compression): AsyncGenerator<Buffer> {
  const stream = programs[compression]();
  // What ends the one ends the other; who reads gets the error.
  pipeline(body, stream, () => undefined);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw ofContent(error as NodeJS.ErrnoException, compression) ?? error;
  } finally {
    body.destroy();
    stream.destroy();
  }
}

/** Null: it is none of the content. Codes of zlib begin with Z_, those of zstd with ZSTD_. */
function ofContent({ code = '', message }: NodeJS.ErrnoException, by: Compression): StoreHttpError | null {
  if (!/^Z(STD)?_/.test(code)) return null;
  return code.endsWith('windowTooLarge')
    ? new StoreHttpError(
        'WindowTooLarge',
        null,
        `a layer is compressed by ${by} with a window of more than 128 MiB`,
      )
    : new StoreHttpError('BrokenArchive', null, `a layer that is to be a ${by} archive: ${message}`);
}
