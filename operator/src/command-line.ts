// What the commands for people have in common: flags that are refused with words, and errors reported with an exit status.
// Node's own parser reads the flags: it types what each gives, and a command reports all that is wrong, where commander
// ends at the first.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ClusterError } from './kube/connect.js';

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked for is not done, for a reason that lies in the cluster's state. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** @throws UsageError */
export function parseFlags<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Runs a command and gives its exit status: 1 refused, 2 wrong arguments, 3 nothing can be said, also by a bug. */
export async function exitCodeOf(name: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const isExpected = [UsageError, ClusterError, Refusal].some((kind) => error instanceof kind);
    const { message, stack = message } = error as Error;
    process.stderr.write(`${name}: ${isExpected ? message : stack}\n`);
    if (error instanceof Refusal) return 1;
    return error instanceof UsageError ? 2 : 3;
  }
}
