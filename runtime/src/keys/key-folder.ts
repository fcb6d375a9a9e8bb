// The folder that a Secret is mounted in, and the keys of its file, which may change at any time. It is read again and
// again instead of watched: Kubernetes swaps a link above the file, and a poll sees every way to change a file. One that
// is broken changes nothing but the log and a metric.

import { FailureError, keyFileNames, readKeyFile, type ConfiguredKey } from '@llmservice/crds';
import { KeySet } from '@llmservice/crds/keys';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log/logger.js';

const pollMs = 1_000;

/** What is logged of the file. */
export interface KeyFileEvents {
  /** It was read anew; null: it is broken, and the keys before it stay. */
  keysRead(keys: readonly ConfiguredKey[] | null): void;
}

export class KeyFolder {
  readonly #dir: string;
  readonly #logger: Logger;
  readonly #events: KeyFileEvents;
  #set = new KeySet([]);
  /** As last read, right or wrong; so that the same mistake is logged once. */
  #last = '';
  #timer: NodeJS.Timeout | null = null;
  /** Under way: each that a disk keeps waiting takes a thread that all reading of files needs. */
  #looking: Promise<void> | null = null;

  constructor(dir: string, logger: Logger, events: KeyFileEvents) {
    this.#dir = dir;
    this.#logger = logger;
    this.#events = events;
  }

  /**
   * Reads the keys and keeps looking; before, nobody is let in.
   * @throws FailureError KeysInvalid
   */
  async open(): Promise<void> {
    const { text, keys, problem } = await this.#read();
    if (keys === null) throw new FailureError('KeysInvalid', `${this.#dir}: ${problem}`);
    this.#take(text, keys);
    this.#timer = setInterval(() => {
      if (this.#looking === null) this.#looking = this.#look().finally(() => (this.#looking = null));
    }, pollMs);
    this.#timer.unref();
  }

  /** The key that a client's text is; null: none. */
  find(presented: string): ConfiguredKey | null {
    return this.#set.find(presented);
  }

  /** Null: there is none of this id. */
  withId(id: string): ConfiguredKey | null {
    return this.#set.withId(id);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { text, keys, problem } = await this.#read();
    if (text === this.#last) return;
    if (keys !== null) {
      this.#take(text, keys);
      return;
    }
    this.#last = text;
    this.#events.keysRead(null);
    this.#logger.error('the key file is broken, the keys before it stay', { dir: this.#dir, problem });
  }

  #take(text: string, keys: readonly ConfiguredKey[]): void {
    this.#last = text;
    this.#set = new KeySet(keys);
    this.#events.keysRead(keys);
    this.#logger.info('keys read', { dir: this.#dir, keys: keys.length });
  }

  async #read(): Promise<FileRead> {
    const texts = await Promise.all(keyFileNames.map((name) => readIfThere(join(this.#dir, name))));
    const [text, another] = texts.filter((each) => each !== null);
    const names = keyFileNames.join(' and ');
    if (text === undefined) return broken('', `one of ${names} must be there, readable`);
    if (another !== undefined) return broken(text + another, `${names} are both there; remove one`);
    const read = readKeyFile(text);
    if (read.ok) return { text, keys: read.value, problem: '' };
    return broken(text, read.violations.map(({ path, message }) => `${path} ${message}`.trim()).join('; '));
  }
}

interface FileRead {
  readonly text: string;
  /** Null: broken. */
  readonly keys: readonly ConfiguredKey[] | null;
  readonly problem: string;
}

function broken(text: string, problem: string): FileRead {
  return { text: `broken: ${text}`, keys: null, problem };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}
