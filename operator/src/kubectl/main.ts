// Entry of `kubectl llm SUBCOMMAND` for what asks a cluster; bin/kubectl-llm.js of the command line finds it.

import { exitCodeOf, UsageError } from '../command-line.js';
import { chat } from './chat.js';
import type { Command } from './command.js';
import { drain } from './drain.js';
import { logs } from './logs.js';
import { status } from './status.js';

const commands: Readonly<Record<string, Command>> = { status, logs, chat, drain };

// A reader such as head may have seen enough.
process.stdout.on('error', () => process.exit(0));

const name = process.argv[2] ?? '';
process.exitCode = await exitCodeOf(`kubectl llm ${name}`, () => {
  const command = commands[name];
  if (command === undefined) throw new UsageError(`there is no such subcommand`);
  return command(process.argv.slice(3), process);
});
// Streams of the API server that nobody reads any more, and a standard input that waits, would keep the process.
process.exit();
