// A pull in pieces of one size: which are missing, and in which order the engine will want them. Pure.

import type { FileVersion } from './checkpoint-source.js';
import type { ByteRange } from './byte-ranges.js';

/** Bytes [index · pieceBytes, (index + 1) · pieceBytes) of a file; the last piece is what is left. */
export interface Piece {
  readonly file: FileVersion;
  readonly index: number;
  readonly range: ByteRange;
}

/** A tensor's place in its file. */
export interface TensorPlace {
  readonly name: string;
  readonly range: ByteRange;
}

export function pieceCount(bytes: number, pieceBytes: number): number {
  return Math.ceil(bytes / pieceBytes);
}

export function piecesOf(file: FileVersion, pieceBytes: number): Piece[] {
  return Array.from({ length: pieceCount(file.bytes, pieceBytes) }, (_, index) => {
    const begin = index * pieceBytes;
    return { file, index, range: [begin, Math.min(file.bytes, begin + pieceBytes)] };
  });
}

/** @param done sorted, disjoint ranges of the file */
export function isCovered({ range: [begin, end] }: Piece, done: readonly ByteRange[]): boolean {
  return done.some(([from, to]) => from <= begin && end <= to);
}

/**
 * Pieces by the first tensor that the engine reads of them. Those that hold none keep their place at the front: they
 * are small files.
 * @param tensors by file name
 */
export function inReadOrder(
  pieces: readonly Piece[],
  pieceBytes: number,
  tensors: ReadonlyMap<string, readonly TensorPlace[]>,
): Piece[] {
  const first = new Map<string, number[]>();
  for (const [file, places] of tensors) first.set(file, firstReads(places, pieceBytes));
  const position = ({ file, index }: Piece): number => first.get(file.name)?.[index] ?? -1;
  return [...pieces].sort((a, b) => position(a) - position(b));
}

/** Pieces that may come at any time, each alone, and, as they lie behind each other, those of what is read from its start. */
export function lanesOf(pieces: readonly Piece[]): Piece[][] {
  const alone: Piece[][] = [];
  const streams = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const { stream } = piece.file;
    if (stream === undefined) alone.push([piece]);
    else if (streams.get(stream.id)?.push(piece) === undefined) streams.set(stream.id, [piece]);
  }
  const at = ({ file, range }: Piece): number => (file.stream?.begin ?? 0) + range[0];
  return [...alone, ...[...streams.values()].map((lane) => lane.sort((a, b) => at(a) - at(b)))];
}

/** By piece of one file, the position of the first tensor that is read of it. */
function firstReads(places: readonly TensorPlace[], pieceBytes: number): number[] {
  const first: number[] = [];
  for (const { name, range } of places) {
    const position = readPosition(name);
    for (let piece = Math.floor(range[0] / pieceBytes); piece * pieceBytes < range[1]; piece += 1) {
      first[piece] = Math.min(first[piece] ?? Infinity, position);
    }
  }
  return first;
}

const afterAllLayers = 1e6;
/** Only where it drafts by that layer. */
const multiTokenPrediction = 1e7;
const unread = 1e8;

/** The engine reads the embedding, then layer after layer, then final norm and head, then what drafts; images last. */
export function readPosition(tensor: string): number {
  if (tensor.startsWith('mtp.')) return multiTokenPrediction;
  if (/(^|\.)(visual|vision_tower)\./.test(tensor)) return unread;
  if (/(^|\.)embed_tokens\.|^rope_freqs\./.test(tensor)) return 0;
  const layer = /(?:^|\.)layers\.(\d+)\./.exec(tensor)?.[1];
  return layer === undefined ? afterAllLayers : 1 + Number(layer);
}
