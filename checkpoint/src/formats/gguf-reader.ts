// Reads numbers and texts of a GGUF header from the file's first bytes, one after the other. No length is believed:
// each is held against the file's size, or a limit, before anything is taken.

import { FailureError } from '@llmservice/crds';

/** Vocabularies make headers of some ten MiB; more than this is not a header. */
export const maxGgufHeaderBytes = 256 * 2 ** 20;

const maxNameBytes = 1024;
/** In all arrays that are read one element after the other. A vocabulary of 262,144 has four, of as many or twice that. */
const maxElements = 2 ** 22;

/** Thrown where the header continues behind the bytes that are there: with more of them it can be read. */
export const headerGoesOn = Symbol('the header continues behind the bytes that are there');

/** Every method names `what` it was to read when the file is malformed. @throws FailureError CheckpointCorrupt */
export class GgufReader {
  readonly view: DataView;
  readonly fileBytes: number;
  readonly #file: string;
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #at = 0;
  #elements = 0;

  /** @param bytes the first of the file's `fileBytes` */
  constructor(file: string, bytes: Uint8Array, fileBytes: number) {
    this.#file = file;
    this.#bytes = bytes;
    this.fileBytes = fileBytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes that have been read. */
  get at(): number {
    return this.#at;
  }

  corrupt(problem: string): FailureError {
    return new FailureError('CheckpointCorrupt', `${this.#file}: ${problem}`, { file: this.#file });
  }

  /** Where in `view` the next `count` bytes begin. */
  take(count: number, what: string): number {
    const end = this.#at + count;
    if (end > this.fileBytes) {
      throw this.corrupt(
        `the file ends at byte ${String(this.fileBytes)} within ${what}, which at byte ${String(this.#at)} takes ` +
          `${String(count)} more: it is truncated or malformed`,
      );
    }
    if (end > maxGgufHeaderBytes) {
      throw this.corrupt(
        `its header has more than ${String(maxGgufHeaderBytes)} bytes, far more than such a file takes`,
      );
    }
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a way out of the depth, caught by parseGgufHeader
    if (end > this.#bytes.byteLength) throw headerGoesOn;
    const begin = this.#at;
    this.#at = end;
    return begin;
  }

  u32(what: string): number {
    return this.view.getUint32(this.take(4, what), true);
  }

  u64(what: string): number {
    return Number(this.view.getBigUint64(this.take(8, what), true));
  }

  /** A number of things, of which there may be `most`. */
  count(what: string, most: number): number {
    const count = this.u64(what);
    if (count > most) throw this.corrupt(`${what} is ${String(count)}; at most ${String(most)} are read`);
    return count;
  }

  /** Before an array of so many elements is read one after the other. */
  array(count: number, what: string): void {
    this.#elements += count;
    if (this.#elements <= maxElements) return;
    throw this.corrupt(`with ${what} its arrays have more than ${String(maxElements)} elements`);
  }

  text(bytes: number, what: string): string {
    const begin = this.take(bytes, what);
    return this.#decoder.decode(this.#bytes.subarray(begin, begin + bytes));
  }

  /** A text of 1 to 1024 bytes behind its length. */
  name(what: string): string {
    const bytes = this.u64(what);
    if (bytes === 0 || bytes > maxNameBytes) {
      throw this.corrupt(`${what} has ${String(bytes)} bytes; expected 1 to ${String(maxNameBytes)}`);
    }
    return this.text(bytes, what);
  }
}
