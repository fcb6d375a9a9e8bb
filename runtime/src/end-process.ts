// How a serving process ends: signals drain it, a failure is written where Kubernetes keeps it.

import { FailureError, failureKinds, formatTerminationMessage, paths, type Failure } from '@llmservice/crds';
import { existsSync, writeFileSync } from 'node:fs';
import type { Logger } from './log/logger.js';

/** First SIGTERM or SIGINT: drain. A second SIGINT: somebody is impatient. */
export function stopOnSignals(replica: { readonly stop: () => void }): void {
  process.on('SIGTERM', () => replica.stop());
  let interrupted = false;
  process.on('SIGINT', () => {
    if (interrupted) process.exit(130);
    interrupted = true;
    replica.stop();
  });
}

/** What the process ends with; anything untyped is a crash. */
export function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  return {
    reason: 'Crashed',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Logs the failure with its remedy and writes the termination message. */
export function reportFailure(failure: Failure, terminationLog: string, logger: Logger): void {
  const { reason, message, detail } = failure;
  // Of a field called message the logger would make a part of its own message.
  logger.error('giving up', { reason, cause: message, detail, remedy: failureKinds[reason].remedy });
  // Kubernetes makes the file at the default path; outside of a pod there is none and none is wanted.
  if (terminationLog === paths.terminationMessage && !existsSync(terminationLog)) return;
  try {
    writeFileSync(terminationLog, formatTerminationMessage(failure));
  } catch (error) {
    logger.warn('the termination message cannot be written', {
      terminationLog,
      error: (error as Error).message,
    });
  }
}
