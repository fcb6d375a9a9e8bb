// What keys have spent today, from the accounting logs in a folder: so that a replica that is started again does not
// give a day's budget twice. What lies beside the logs and cannot be read takes nothing away from the others' sums.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { AccountingLogger } from './accounting-logger.js';
import { parseRecord } from './accounting-record.js';

/**
 * Tokens of prompts and answers by key id, of requests that ended on the UTC day of `now`, in Unix milliseconds.
 * A folder that is not there has none; a file that cannot be read is logged, and what was read of it counts.
 * @throws NodeJS.ErrnoException when the folder cannot be read
 */
export async function spentToday(
  dir: string,
  now: number,
  logger: AccountingLogger,
): Promise<Map<string, number>> {
  const today = new Date(now).toISOString().slice(0, 10);
  const spent = new Map<string, number>();
  const warn = (path: string, error: unknown): void => {
    const fields = { path, cause: (error as Error).message };
    logger.warn('an accounting log cannot be read: budgets of the day are given without it', fields);
  };
  const paths = await logsIn(dir);
  // None is ever deleted here: of many, on a network's disk, each look takes its time.
  const looks = await Promise.allSettled(paths.map((path) => isWrittenSince(path, Date.parse(today))));
  for (const [i, path] of paths.entries()) {
    const look = looks[i];
    if (look?.status === 'rejected') warn(path, look.reason);
    else if (look?.value === true)
      await addSpent(path, today, spent).catch((error: unknown) => warn(path, error));
  }
  return spent;
}

async function logsIn(dir: string): Promise<string[]> {
  try {
    const names = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'));
    return names.sort().map((name) => join(dir, name));
  } catch (error) {
    // The first line that is written makes the folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** @throws Error when it is no file: to open a pipe would wait for who writes to it */
async function isWrittenSince(path: string, since: number): Promise<boolean> {
  const found = await stat(path);
  if (found.mtimeMs < since) return false;
  if (!found.isFile()) throw new Error('it is no file');
  return true;
}

async function addSpent(path: string, day: string, spent: Map<string, number>): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const record = parseRecord(line);
    if (record?.key == null || !record.time.startsWith(day)) continue;
    const before = spent.get(record.key) ?? 0;
    spent.set(record.key, before + record.promptTokens + record.completionTokens);
  }
}
