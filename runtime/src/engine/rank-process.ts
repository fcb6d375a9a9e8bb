// Entry of the process of a tensor-parallel rank other than 0: loads its part of the model and follows rank 0, which
// runs in the engine process that forked it. It ends with rank 0's engine, with its parent, or after reporting a failure.

import { dieWithParent, runRank } from '@llmservice/native';
import { failureOf } from './failure-of.js';
import type { RankMessage, RankStart } from './rank-processes.js';

function reportFailure(error: unknown): void {
  const message: RankMessage = { failure: failureOf(error) };
  process.send?.(message, () => process.exit(1));
}

dieWithParent();
process.once('message', ({ options, arrivals }: RankStart) => {
  runRank(options, () => undefined, arrivals).then(() => process.exit(0), reportFailure);
});
// For the moment before the kernel was asked to do it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal's Ctrl-C goes to the whole process group; the server decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
