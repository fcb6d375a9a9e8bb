// Entry of the container that prepares a folder of the node before a pod mounts it: TOP FOLDER USER PATH, where
// PATH is what TOP is called on the node. Exit code 0 once the user may write to TOP/FOLDER, 1 with a termination message
// where something is in its way.

import { FailureError, formatTerminationMessage, paths, type Failure } from '@llmservice/crds';
import { existsSync, writeFileSync } from 'node:fs';
import { createOperatorLogger } from '../log.js';
import { prepareFolder } from './prepare-folder.js';

const [top = '', folder = '', user = '', path = top] = process.argv.slice(2);
const logger = createOperatorLogger('info');
try {
  prepareFolder(top, folder.split('/'), Number(user), path);
  logger.info('the folder is prepared', { path, folder, user });
} catch (error) {
  const failure = failureOf(error);
  logger.error('the folder cannot be prepared', { reason: failure.reason, cause: failure.message });
  if (existsSync(paths.terminationMessage)) {
    writeFileSync(paths.terminationMessage, formatTerminationMessage(failure));
  }
  process.exitCode = 1;
}

function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  return { reason: 'Crashed', message: error instanceof Error ? error.message : String(error) };
}
