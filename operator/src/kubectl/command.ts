// What the subcommands of `kubectl llm` are given: arguments, a cluster, and a terminal.

import { once } from 'node:events';

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Resolves with the exit status. @throws UsageError, ClusterError */
export type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;

/** Waits where the reader is slower: what is kept for it would fill the memory. */
export async function print(text: string, stream: NodeJS.WriteStream): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

const escape = '\x1b';

/** Escape sequences where a person looks, else the text as it is. */
export const styles = {
  dim: (text: string, stream: NodeJS.WriteStream): string =>
    stream.isTTY ? `${escape}[2m${text}${escape}[22m` : text,
  red: (text: string, stream: NodeJS.WriteStream): string =>
    stream.isTTY ? `${escape}[31m${text}${escape}[39m` : text,
};
