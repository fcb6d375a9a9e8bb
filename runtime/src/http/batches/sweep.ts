// Deletes what is too old, and counts what is left. Content outlives what is known of its file by as long as a batch may
// take, since parts of output are stored before their file is.

import { completionWindowMs } from './batch.js';
import type { ObjectStore } from '../objects/object-store.js';
import type { StoredFiles } from './stored-files.js';

/** Number of deleted objects. @throws ApiError server_busy */
export async function sweep(objects: ObjectStore, files: StoredFiles, now: number): Promise<number> {
  const { maxAgeMs } = files.limits;
  const held = new Map<string, number>();
  let deleted = 0;
  for (const { key, bytes, storedAtMs } of await objects.list('')) {
    const [kind, folder = ''] = key.split('/');
    const kept = kind === 'content' ? maxAgeMs + completionWindowMs : maxAgeMs;
    if (storedAtMs + kept <= now) {
      await objects.delete(key);
      deleted += 1;
    } else if (kind === 'content') held.set(folder, (held.get(folder) ?? 0) + bytes);
  }
  files.room.counted(held);
  return deleted;
}
