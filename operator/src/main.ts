// Entry of the operator: settings, log, cluster credentials, signals. Everything else is given its parts from here.

import { KubeConfig } from '@kubernetes/client-node';
import { serveHttp } from './http-server.js';
import { KubeClient } from './kube/client.js';
import { createOperatorLogger } from './log.js';
import { Metrics } from './metrics.js';
import { Operator } from './operator.js';
import { parseOptions } from './options.js';

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), process.env);
  const logger = createOperatorLogger(options.logLevel);
  const load = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromDefault();
    return config;
  };
  const operator: Operator = new Operator({
    client: new KubeClient(load(), (method, path) => operator.metrics.countRequest(method, path), load),
    options,
    logger,
    metrics: (queueDepth) => new Metrics(queueDepth),
  });
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());
  const server = await serveHttp(options.port, operator.metrics.registry, () => operator.notReady());
  try {
    await operator.run(stop.signal);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  },
);
