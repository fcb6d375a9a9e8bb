// Entry of containers that only fetch a checkpoint: for another engine, into a folder of the pod, judged by that engine
// alone; or into the cache of the node, before a pod that serves comes to it. Exit code 0 once all of it is there and
// verified, 1 with a termination message after a failure.

import type { FailureError } from '@llmservice/crds';
import { paths } from '@llmservice/crds';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { readConfig } from './config/read-config.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import { terminationLogOf } from './config/server-settings.js';
import { failureOf, reportFailure } from './end-process.js';
import { makeLogger } from './log/logger.js';
import { makeWeightsCache } from './node-cache.js';
import { storeSettingsOf } from './store-settings.js';
import type { WeightsCache } from './weights/cache/weights-cache.js';
import { headOf } from './weights/inspect-head.js';
import { obtainCheckpoint } from './weights/obtain-checkpoint.js';
import { PullReport } from './weights/pull-report.js';
import { pullWhole, type PullWholeOptions } from './weights/pull-whole.js';
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
    const logger = makeLogger(config.server.logLevel);
    const how = {
      uri: model.uri,
      stores: storeSettingsOf(config),
      observer: new PullReport(logger, stall, () => performance.now()),
      sleep: (ms: number) => sleep(ms, undefined, { signal: stopping.signal }),
      signal: stopping.signal,
    };
    const cache = makeWeightsCache(config, new Registry(), logger);
    const dir = join(config.server.weightsDir, basename(paths.pulledCheckpoint));
    const pulled = cache === null ? pullWhole({ ...how, dir }) : fill(cache, config, how);
    await Promise.race([pulled, untilStalled(stall)]);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return 1;
    reportFailure(failureOf(error), terminationLogOf(process.env), makeLogger('info'));
    return 1;
  }
}

/** What the engine of the config needs of its checkpoints. @throws as `obtainCheckpoint` */
async function fill(
  cache: WeightsCache,
  { engineConfig, server }: ResolvedConfig,
  how: Omit<PullWholeOptions, 'dir'>,
): Promise<void> {
  const { model, engine } = engineConfig;
  const pins = model.cache?.pins ?? { model: null, head: null };
  const head = headOf(engine.speculative);
  const { weightsDir, adminAllowedUris: allowedUris } = server;
  const options = { ...how, cache, pins, head, weightsDir, allowedUris };
  const { arrivals, kept, release } = await obtainCheckpoint(options);
  await kept.finally(() => arrivals?.close());
  release();
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
