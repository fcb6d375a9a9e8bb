// Reads a JSON text of a known shape entry by entry, from bytes as they come: see JsonBytes.

import { needsBytes, JsonBytes } from './json-bytes.js';

/** Reads what comes next; null: the text is over, and blanks alone may follow. */
type Step = (json: JsonBytes) => Step | null;

export type { Step };

export class SteppedReader {
  readonly #json: JsonBytes;
  #step: Step | null;

  /** @param maxStepBytes that one step may take */
  constructor(file: string, first: Step, maxStepBytes: number) {
    this.#json = new JsonBytes(file, maxStepBytes);
    this.#step = first;
  }

  /** @throws FailureError CheckpointCorrupt */
  write(bytes: Uint8Array): void {
    this.#json.feed(bytes);
    this.#run();
  }

  /** No bytes follow. @throws FailureError CheckpointCorrupt where the text is not whole */
  end(): void {
    this.#json.end();
    this.#run();
  }

  #run(): void {
    try {
      for (;;) {
        if (this.#step === null) {
          const byte = this.#json.next();
          if (byte === null) return;
          throw this.#json.corrupt('something follows the end of the object');
        }
        this.#step = this.#step(this.#json);
        this.#json.commit();
      }
    } catch (error) {
      if (error !== needsBytes) throw error;
    }
  }
}
