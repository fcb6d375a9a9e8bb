// What of a pull is already on disk, so that a restarted process continues where the last one stopped.
// One JSON file beside the weights, replaced atomically; an entry counts only for the same size and ETag. Only files that
// are verified have been synced: of others the machine's next boot may find nothing.

import { join } from 'node:path';
import { bootId } from './boot-id.js';
import { addRange, countBytes, type ByteRange } from './byte-ranges.js';
import type { FileVersion } from './checkpoint-source.js';
import { readPlainText, writePlainText } from './plain-file.js';

const journalFile = '.llmservice-pull.json';

interface JournalEntry {
  readonly bytes: number;
  readonly etag: string | null;
  readonly done: readonly ByteRange[];
  /** True once the whole file was compared with its digest, and synced. */
  readonly verified: boolean;
  /** How often the whole file was there and had another digest. */
  readonly mismatches: number;
}

interface WrittenJournal {
  readonly boot: string;
  /** By name. */
  readonly files: Readonly<Record<string, JournalEntry>>;
}

export class PullJournal {
  private saving: Promise<void> = Promise.resolve();
  private dirty = false;

  private constructor(
    private readonly dir: string,
    private readonly entries: Map<string, JournalEntry>,
  ) {}

  /** An unreadable journal is an empty one: everything is fetched again. */
  static async open(dir: string): Promise<PullJournal> {
    const { boot, files } = (await read(dir)) ?? { boot: '', files: {} };
    const counts = ({ verified }: JournalEntry): boolean => verified || boot === bootId();
    return new PullJournal(dir, new Map(Object.entries(files).filter(([, entry]) => counts(entry))));
  }

  /** Ranges of this version that are on disk; none when the journal knows another version. */
  done(file: FileVersion): readonly ByteRange[] {
    return this.entry(file).done;
  }

  doneBytes(file: FileVersion): number {
    return countBytes(this.done(file));
  }

  /** Of all files that it knows. */
  progress(): { readonly doneBytes: number; readonly totalBytes: number } {
    const entries = [...this.entries.values()];
    return {
      doneBytes: entries.reduce((sum, { done }) => sum + countBytes(done), 0),
      totalBytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  isVerified(file: FileVersion): boolean {
    return this.entry(file).verified;
  }

  async addRange(file: FileVersion, range: ByteRange): Promise<void> {
    const entry = this.entry(file);
    this.entries.set(file.name, { ...entry, done: addRange(entry.done, range) });
    await this.save();
  }

  async setVerified(file: FileVersion): Promise<void> {
    this.entries.set(file.name, { ...this.entry(file), done: [[0, file.bytes]], verified: true });
    await this.save();
  }

  /** Nothing of the file is on disk. */
  async restart(file: FileVersion): Promise<void> {
    this.entries.set(file.name, { ...this.entry(file), done: [], verified: false });
    await this.save();
  }

  /** The whole file is of no use, and starts anew. Returns how often that happened; after twice it counts anew. */
  async mismatched(file: FileVersion): Promise<number> {
    const mismatches = this.entry(file).mismatches + 1;
    this.entries.set(file.name, { ...this.entry(file), mismatches: mismatches % 2 });
    await this.restart(file);
    return mismatches;
  }

  private entry(file: FileVersion): JournalEntry {
    const entry = this.entries.get(file.name);
    if (entry !== undefined && entry.bytes === file.bytes && entry.etag === file.etag) return entry;
    return { bytes: file.bytes, etag: file.etag, done: [], verified: false, mismatches: 0 };
  }

  /** Writes that arrive while one is under way are joined into the next. */
  private save(): Promise<void> {
    if (this.dirty) return this.saving;
    this.dirty = true;
    this.saving = this.saving.then(async () => {
      this.dirty = false;
      const written: WrittenJournal = { boot: bootId(), files: Object.fromEntries(this.entries) };
      await writePlainText(join(this.dir, journalFile), JSON.stringify(written));
    });
    return this.saving;
  }
}

/** Null where there is none that can be read. */
async function read(dir: string): Promise<WrittenJournal | null> {
  try {
    const written = JSON.parse(await readPlainText(join(dir, journalFile))) as Partial<WrittenJournal>;
    const { boot, files } = written;
    return boot === undefined || files === undefined ? null : { boot, files };
  } catch {
    return null;
  }
}
