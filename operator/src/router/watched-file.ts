// One file of a mounted ConfigMap or Secret, read again and again instead of watched: Kubernetes swaps a link above the file,
// and a poll sees every way to change it. One that is broken or gone changes nothing but the log, which says it once.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'winston';

const lookMs = 1_000;

export interface WatchedFileOptions<T> {
  readonly folder: string;
  /** One of these is there. */
  readonly names: readonly string[];
  /** @throws Error saying what is wrong */
  readonly read: (text: string) => T;
  readonly logger: Logger;
}

export class WatchedFile<T> {
  private last: string;
  private value: T;
  private complaint = '';
  private readonly looking: NodeJS.Timeout;

  /** @throws Error where it is missing or broken */
  constructor(private readonly options: WatchedFileOptions<T>) {
    this.last = this.text();
    this.value = options.read(this.last);
    this.looking = setInterval(() => this.look(), lookMs);
    this.looking.unref();
  }

  get current(): T {
    return this.value;
  }

  stop(): void {
    clearInterval(this.looking);
  }

  private look(): void {
    const { names, logger, read } = this.options;
    try {
      const text = this.text();
      if (text !== this.last) {
        this.value = read(text);
        this.last = text;
        logger.info('a file was read anew', { file: names[0] });
      }
      this.complaint = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.complaint)
        logger.warn('a file was not taken; the last good one stays', { file: names[0], error: message });
      this.complaint = message;
    }
  }

  private text(): string {
    const { folder, names } = this.options;
    const found = names.flatMap((name) => {
      try {
        return [readFileSync(join(folder, name), 'utf8')];
      } catch {
        return [];
      }
    });
    const [text] = found;
    if (text === undefined || found.length > 1)
      throw new Error(`${folder} must have one file ${names.join(' or ')}`);
    return text;
  }
}
