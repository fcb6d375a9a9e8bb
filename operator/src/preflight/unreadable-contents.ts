// Checkpoints that ended their reader, by what lies in the bucket: whoever names the same content next, or edits a service of
// it, has no reader of its own end by it; content that changes is read again. Content is what a listing shows of it.

import { setTimeout as sleep } from 'node:timers/promises';
import { checkpointPin } from '@llmservice/checkpoint';
import { FailureError, type Failure } from '@llmservice/crds';
import type { Checkpoint } from '../domain/checkpoint.js';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { placeOf, s3Access } from '../resource/store-access.js';
import type { CheckpointSource, OpenFolders } from './judge-checkpoint.js';

/** A reader may end for want of memory elsewhere: nothing is believed for good. */
const rememberedMs = 24 * 3_600_000;
const maxRemembered = 1_000;
/** A listing is some small answers. */
const listMs = 30_000;

export class UnreadableContents {
  /** The oldest first. */
  private readonly known = new Map<string, { readonly failure: Failure; readonly until: number }>();

  constructor(
    private readonly source: CheckpointSource,
    private readonly most = maxRemembered,
  ) {}

  /**
   * What `read` gives, unless the same content ended a reader before.
   * @param again whatever is known of it
   * @throws FailureError; what `read` throws
   */
  async read(
    service: WantedService,
    { again, signal }: { readonly again: boolean; readonly signal: AbortSignal },
    read: () => Promise<Checkpoint>,
  ): Promise<Checkpoint> {
    const content = await this.contentOf(service, signal);
    const known = content === null || again ? null : this.recall(content);
    if (known !== null) throw new FailureError(known.reason, known.message, known.detail);
    try {
      return await read();
    } catch (error) {
      const isEnd = error instanceof FailureError && error.failure.reason === 'CheckpointUnreadable';
      if (isEnd && content !== null) this.remember(content, error.failure);
      throw error;
    }
  }

  private recall(content: string): Failure | null {
    const found = this.known.get(content);
    return found === undefined || found.until < performance.now() ? null : found.failure;
  }

  private remember(content: string, failure: Failure): void {
    this.known.delete(content);
    this.known.set(content, { failure, until: performance.now() + rememberedMs });
    const [oldest] = this.known.keys();
    if (this.known.size > this.most && oldest !== undefined) this.known.delete(oldest);
  }

  /** Null: it is unknown, such as without the right to list. */
  private async contentOf(service: WantedService, signal: AbortSignal): Promise<string | null> {
    const folders = await this.source.open(service);
    const ended = new AbortController();
    const anyEnd = AbortSignal.any([signal, ended.signal]);
    try {
      return await Promise.race([
        contentIn(folders, service),
        sleep(listMs, null, { signal: anyEnd, ref: false }),
      ]);
    } catch (error) {
      if (error instanceof FailureError) return null;
      throw error;
    } finally {
      ended.abort();
      folders.close();
    }
  }
}

/** With the place in it, and the reader that is meant. @returns null: it may change without a sign */
async function contentIn(folders: OpenFolders, service: WantedService): Promise<string | null> {
  const { region, forcePathStyle } = s3Access(service);
  const pinOf = async (location: CheckpointLocation): Promise<string | null> => {
    const files = await folders.at(location).list();
    if (files.length === 0 || files.some(({ version }) => version === null)) return null;
    return checkpointPin(placeOf(service, location), files);
  };
  const { checkpoint, head, adapters, spec } = service;
  const pins = [await pinOf(checkpoint), head === null ? '' : await pinOf(head)];
  for (const { location } of adapters) pins.push(await pinOf(location));
  if (pins.includes(null)) return null;
  return JSON.stringify([region, forcePathStyle, spec.engine.runtime, ...pins]);
}
