// Entry of a gateway's router: settings, log, files, servers, signals. It asks nothing of the API server, so that it serves on
// while that is away, and has no right there that somebody could take over.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { keyFileNames, slowestBody } from '@llmservice/crds';
import { AccountingLog, restoreBudgets } from '@llmservice/crds/accounting';
import { KeyBudgets, MomentClock } from '@llmservice/crds/keys';
import { readRouteTable, routeTableFile } from '../domain/route-table.js';
import { serveHttp } from '../http-server.js';
import { createOperatorLogger } from '../log.js';
import { KeyLimits } from './key-limits.js';
import { KnownKeys } from './known-keys.js';
import { RouterAccounting } from './router-accounting.js';
import { RouterError } from './router-error.js';
import { RouterMetrics } from './router-metrics.js';
import { parseRouterSettings } from './router-options.js';
import { Router } from './router.js';
import { RoutingTable } from './routing-table.js';
import { ServiceAddresses } from './service-addresses.js';
import { WatchedFile } from './watched-file.js';

async function main(): Promise<void> {
  const settings = parseRouterSettings(process.env);
  const logger = createOperatorLogger(settings.logLevel);
  const table = new WatchedFile({
    folder: settings.routesDir,
    names: [routeTableFile],
    read: (text) => new RoutingTable(readRouteTable(text).models),
    logger,
  });
  const { keysDir } = settings;
  const keys =
    keysDir === null
      ? null
      : new WatchedFile({
          folder: keysDir,
          names: keyFileNames,
          read: (text) => KnownKeys.read(text),
          logger,
        });
  const metrics = new RouterMetrics(
    () => router.open,
    () => table.current.models.length,
  );
  const unix = (): number => Date.now();
  const moments = new MomentClock(unix, () => performance.now());
  const { accounting } = settings;
  const log =
    accounting === null ? null : AccountingLog.ofProcess({ ...accounting, clock: unix }, logger, metrics);
  const budgets = new KeyBudgets(settings.replicas, (id, { limit, message, retryAfterSeconds }) => {
    metrics.keyRefused(id, limit);
    return new RouterError('rate_limit_exceeded', message, retryAfterSeconds);
  });
  const router: Router = new Router({
    table: () => table.current,
    keys: () => keys?.current ?? null,
    keyLimits: new KeyLimits(budgets, () => moments.now()),
    accounting:
      log === null || accounting === null
        ? null
        : new RouterAccounting(log, accounting.gateway, () => moments.now()),
    addresses: new ServiceAddresses(),
    metrics,
    limits: {
      bodyBytes: settings.maxBodyBytes,
      totalBytes: settings.maxKeptBytes,
      slowest: slowestBody,
    },
  });
  const signalled = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
  // As long as the runtime's: connections of gateways stay open from one to the other.
  const server = createServer({
    requestTimeout: 300_000,
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  });
  server.on('request', (request, response) => void router.handle(request, response));
  let unready: string | null = 'reading the accounting log';
  // First, since a long log takes its time: who waits for the router sees that it lives.
  const probes = await serveHttp(settings.metricsPort, metrics.registry, () => unready);
  if (accounting !== null && keys !== null) await restoreBudgets(budgets, accounting.dir, unix(), logger);
  await once(server.listen(settings.port), 'listening');
  unready = null;
  logger.info('serving', { port: settings.port, models: table.current.models.length });

  await signalled;
  unready = 'draining';
  logger.info('draining', { open: router.open });
  server.close();
  server.closeIdleConnections();
  await router.drain(settings.drainSeconds * 1000);
  server.closeAllConnections();
  await log?.close();
  probes.closeAllConnections();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
