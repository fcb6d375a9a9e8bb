// The activator's process: settings, log, cluster credentials, servers, signals.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { serveHttp } from '../http-server.js';
import { KubeClient } from '../kube/client.js';
import { createOperatorLogger } from '../log.js';
import { ActivatorMetrics } from './activator-metrics.js';
import { parseActivatorSettings } from './activator-options.js';
import { Activator } from './activator.js';
import { Directory } from './directory.js';
import { listenByTls } from './tls-listener.js';
import { Waker } from './waker.js';

const mib = 2 ** 20;

/** Until a signal ends it, and what it held is answered. */
export async function runActivator(): Promise<void> {
  const settings = parseActivatorSettings(process.env);
  const logger = createOperatorLogger(settings.logLevel);
  const load = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromDefault();
    return config;
  };
  const client = new KubeClient(load(), undefined, load);
  const directory = new Directory({
    client,
    namespaces: settings.watchNamespaces,
    logger,
    onChange: (key) => activator.changed(key),
  });
  const metrics = new ActivatorMetrics(() => activator.held);
  const activator: Activator = new Activator({
    directory,
    waker: new Waker(client, logger, () => new Date()),
    limits: {
      perService: settings.maxHeldPerService,
      total: settings.maxHeld,
      // So that no service takes all of the room.
      bytesPerService: 64 * mib,
      totalBytes: 128 * mib,
      bodyBytes: 32 * mib,
    },
    onForwarded: () => metrics.forwarded(),
    onRefused: (code) => metrics.refused(code),
  });
  const watching = new AbortController();
  const signalled = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
  // Ready is who knows the services.
  await Promise.race([directory.start(watching.signal), signalled]);
  // As long as the runtime's: connections of gateways stay open from one to the other.
  const options = {
    requestTimeout: 300_000,
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const { tlsDir, tlsPort } = settings;
  const servers: readonly [Server, number][] = [
    [createServer(options), settings.port],
    ...(tlsDir === null ? [] : [[listenByTls(tlsDir, options, logger), tlsPort] as [Server, number]]),
  ];
  for (const [server, port] of servers) {
    server.on('request', (request, response) => void activator.handle(request, response));
    await once(server.listen(port), 'listening');
  }
  const probes = await serveHttp(settings.metricsPort, metrics.registry);
  logger.info('serving', { ports: servers.map(([, port]) => port) });

  await signalled;
  logger.info('draining', { held: activator.held });
  for (const [server] of servers) {
    server.close();
    server.closeIdleConnections();
  }
  await activator.drain({ heldMs: settings.graceSeconds * 1000, answersMs: settings.drainSeconds * 1000 });
  watching.abort();
  for (const [server] of servers) server.closeAllConnections();
  probes.closeAllConnections();
}
