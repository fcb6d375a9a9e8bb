// What of the pulled weights is on disk, shared with the processes that read them meanwhile: one byte per piece in a file
// that has no name. It goes with the last process that has it open, so that nothing of it can be left behind.

import type { ArrivalMap } from '@llmservice/native';
import { closeSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FileVersion } from './checkpoint-source.js';
import { makePlainSync } from './plain-file.js';
import { pieceCount, type Piece } from './pieces.js';

const there = Uint8Array.of(1);

export class Arrivals {
  private open = true;

  private constructor(readonly map: ArrivalMap) {}

  static create(dir: string, files: readonly FileVersion[], pieceBytes: number): Arrivals {
    const firstPieces: Record<string, number> = {};
    let pieces = 0;
    for (const file of files) {
      firstPieces[file.name] = pieces;
      pieces += pieceCount(file.bytes, pieceBytes);
    }
    const path = join(dir, '.llmservice-arrivals');
    const descriptor = makePlainSync(path);
    unlinkSync(path);
    try {
      // Written and not only made longer: a disk that fills up later then still has room for every byte.
      writeSync(descriptor, new Uint8Array(pieces));
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return new Arrivals({ descriptor, pieceBytes, firstPieces });
  }

  /** The piece is on disk, for good. */
  arrived({ file, index }: Piece): void {
    const first = this.map.firstPieces[file.name];
    if (this.open && first !== undefined) writeSync(this.map.descriptor, there, 0, 1, first + index);
  }

  /** Idempotent; processes that have the file open keep it. */
  close(): void {
    if (this.open) closeSync(this.map.descriptor);
    this.open = false;
  }
}
