// Entry of the init container that fetches a checkpoint for another engine: pulled and verified as for our own, judged
// by that engine alone. Exit code 0 once all of it lies in its folder, 1 with a termination message after a failure.

import type { FailureError } from '@llmservice/crds';
import { paths } from '@llmservice/crds';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from './config/read-config.js';
import { terminationLogOf } from './config/server-settings.js';
import { failureOf, reportFailure } from './end-process.js';
import { makeLogger } from './log/logger.js';
import { s3SettingsOf } from './s3-settings.js';
import { PullReport } from './weights/pull-report.js';
import { pullWhole } from './weights/pull-whole.js';
import { StallWatch } from './weights/stall-watch.js';

const watchEveryMs = 1_000;

async function main(): Promise<number> {
  const stopping = new AbortController();
  // Init containers get no second chance to drain: what is on disk stays for the next.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  try {
    const config = readConfig(process.env, {});
    const { model, noProgressTimeoutSeconds } = config.engineConfig;
    const stall = new StallWatch(noProgressTimeoutSeconds * 1000, () => performance.now());
    const observer = new PullReport(makeLogger(config.server.logLevel), stall, () => performance.now());
    const pulled = pullWhole({
      uri: model.uri,
      dir: join(config.server.weightsDir, basename(paths.pulledCheckpoint)),
      s3: s3SettingsOf(config),
      observer,
      sleep: (ms) => sleep(ms, undefined, { signal: stopping.signal }),
      signal: stopping.signal,
    });
    await Promise.race([pulled, untilStalled(stall)]);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return 1;
    reportFailure(failureOf(error), terminationLogOf(process.env), makeLogger('info'));
    return 1;
  }
}

/** @throws FailureError LoadStalled */
async function untilStalled(stall: StallWatch): Promise<never> {
  for (;;) {
    await sleep(watchEveryMs);
    const stalled: FailureError | null = stall.check();
    if (stalled !== null) throw stalled;
  }
}

process.exit(await main());
