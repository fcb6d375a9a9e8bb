// A source whose files have to be those of one listing: an entry of the cache has the name of the listing's content.

import { isTimeVersion, type ListedFile } from '@llmservice/checkpoint';
import { SourceChangedError, type CheckpointSource, type FileVersion } from './checkpoint-source.js';

export class ListedSource implements CheckpointSource {
  readonly uri: string;

  constructor(
    private readonly source: CheckpointSource,
    private readonly listing: readonly ListedFile[],
  ) {
    this.uri = source.uri;
  }

  list(): Promise<readonly ListedFile[]> {
    return Promise.resolve(this.listing);
  }

  async version(name: string): Promise<FileVersion> {
    const version = await this.source.version(name);
    const listed = this.listing.find((file) => file.name === name);
    if (listed === undefined || listed.bytes !== version.bytes || differ(listed.version, version.etag))
      throw new SourceChangedError(`${this.uri}${name} was replaced after the folder was listed`);
    return version;
  }

  read(file: FileVersion, begin: number, end: number): AsyncIterable<Uint8Array> {
    return this.source.read(file, begin, end);
  }
}

/** Some servers report a time in the one place and an ETag in the other. */
function differ(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && isTimeVersion(a) === isTimeVersion(b) && a !== b;
}
