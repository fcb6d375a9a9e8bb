// Entry point of the runtime's container: settings from the engine-config file and the environment, one replica,
// exit code 0 after a drain, 1 with a termination message after a failure.

import { denyTracing } from '@llmservice/native';
import { readConfig } from './config/read-config.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import { terminationLogOf } from './config/server-settings.js';
import { failureOf, reportFailure, stopOnSignals } from './end-process.js';
import { makeLogger } from './log/logger.js';
import { NodeWorker } from './node-worker.js';
import { Replica } from './replica.js';

async function main(): Promise<number> {
  let config: ResolvedConfig | null = null;
  try {
    // Its environment and memory have credentials; what it starts reads what strangers wrote.
    denyTracing();
    config = readConfig(process.env, {});
    const logger = makeLogger(config.server.logLevel);
    const replica =
      config.server.workerIndex > 0 ? new NodeWorker(config, logger) : new Replica(config, logger);
    stopOnSignals(replica);
    await replica.run();
    return 0;
  } catch (error) {
    const logger = makeLogger(config?.server.logLevel ?? 'info');
    reportFailure(failureOf(error), config?.server.terminationLog ?? terminationLogOf(process.env), logger);
    return 1;
  }
}

// A drained process may hold open sockets and timers that nobody waits for.
process.exit(await main());
