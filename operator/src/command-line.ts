// What the commands for people have in common: flags that are refused with words, and errors told with an exit status.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ClusterError } from './kube/connect.js';

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError */
export function parseFlags<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Runs a command and gives its exit status: 2 for wrong arguments, 3 where nothing can be said, also for a mistake in here. */
export async function exitCodeOf(name: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const told = error instanceof UsageError || error instanceof ClusterError;
    process.stderr.write(`${name}: ${told ? error.message : String((error as Error).stack)}\n`);
    return error instanceof UsageError ? 2 : 3;
  }
}
