// Entry of `kubectl llm SUBCOMMAND` for what asks a cluster; bin/kubectl-llm.js of the command line finds it.

import { setMaxListeners } from 'node:events';
import { exitCodeOf, UsageError } from '../command-line.js';
import { chat } from './chat.js';
import type { Command } from './command.js';
import { drain } from './drain.js';
import { logs } from './logs.js';
import { status } from './status.js';

const commands: Readonly<Record<string, Command>> = { status, logs, chat, drain };

const { stdout, stderr } = process;
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as head may have seen enough; a full disk has not.
    process.exit(error.code === 'EPIPE' ? 0 : 3);
  });
  // Every log that is followed waits for a slow reader.
  setMaxListeners(0, stream);
}

const name = process.argv[2] ?? '';
process.exitCode = await exitCodeOf(`kubectl llm ${name}`, () => {
  const command = commands[name];
  if (command === undefined) throw new UsageError(`there is no such subcommand`);
  return command(process.argv.slice(3), process);
});
// Streams of the API server that nobody reads any more, and a standard input that waits, would keep the process; its
// end would drop what a pipe has not taken yet.
for (const stream of [stdout, stderr]) await new Promise((resolve) => stream.write('', resolve));
process.exit();
