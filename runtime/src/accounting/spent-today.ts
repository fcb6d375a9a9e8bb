// What keys have spent today, from the accounting logs in a folder: so that a replica that is started again does not
// give a day's budget twice.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseRecord } from './accounting-record.js';

/** Tokens of prompts and answers by key id, of requests that ended on the UTC day of `now`, in Unix milliseconds. */
export async function spentToday(dir: string, now: number): Promise<Map<string, number>> {
  const today = new Date(now).toISOString().slice(0, 10);
  const spent = new Map<string, number>();
  for (const path of await filesSince(dir, Date.parse(today))) {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const record = parseRecord(line);
      if (record?.key == null || !record.time.startsWith(today)) continue;
      const before = spent.get(record.key) ?? 0;
      spent.set(record.key, before + record.promptTokens + record.completionTokens);
    }
  }
  return spent;
}

/** Logs that were written to since then. */
async function filesSince(dir: string, since: number): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'));
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(dir, name), at: (await stat(join(dir, name))).mtimeMs })),
  );
  return files.filter(({ at }) => at >= since).map(({ path }) => path);
}
