// The operator's process: settings, log, cluster credentials, signals. Everything else is given its parts from here.

import { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'winston';
import { ConversionCertificate } from './conversion/conversion-certificate.js';
import { ConversionServer } from './conversion/conversion-server.js';
import { serveHttp } from './http-server.js';
import { KubeClient } from './kube/client.js';
import { createOperatorLogger } from './log.js';
import { Metrics } from './metrics.js';
import { Operator } from './operator.js';
import { parseOptions, type OperatorOptions } from './options.js';

/** Until a signal ends it. */
export async function runOperator(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), process.env);
  const logger = createOperatorLogger(options.logLevel);
  const load = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromDefault();
    return config;
  };
  const client = new KubeClient(load(), (method, path) => operator.metrics.countRequest(method, path), load);
  const operator: Operator = new Operator({
    client,
    options,
    logger,
    metrics: (queueDepth) => new Metrics(queueDepth),
  });
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());
  const conversion = conversionOf(options, client, logger);
  const notReady = (): string | null => operator.notReady() ?? conversion?.notReady() ?? null;
  const server = await serveHttp(options.port, operator.metrics.registry, notReady);
  const converts = conversion?.run(stop.signal);
  try {
    await operator.run(stop.signal);
  } finally {
    server.close();
    server.closeAllConnections();
    stop.abort();
    await converts;
  }
}

/** It serves in every replica, and needs no Lease. */
function conversionOf(
  { conversion, leaseNamespace: namespace }: OperatorOptions,
  client: KubeClient,
  logger: Logger,
): ConversionServer | null {
  if (conversion === null) return null;
  const { secretName, port } = conversion;
  const now = (): number => Date.now();
  const certificate = new ConversionCertificate({ client, namespace, secretName, now });
  return new ConversionServer({ port, certificate, logger });
}
