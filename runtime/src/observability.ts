// What watches the requests of one replica, made from its configuration: the access log, metrics of whole requests, and
// traces where an endpoint for them is set. What is not asked for is not even loaded.

import type { EndedRequest, RequestObserver } from './observe/ended-request.js';
import { accessLog } from './observe/access-line.js';
import type { OtlpTraces } from './observe/otlp-traces.js';
import type { Logger } from './log/logger.js';
import type { ServerMetrics } from './metrics/server-metrics.js';

/** Names of OpenTelemetry's own variables that say where traces go. */
const endpointNames = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

export class Observability {
  readonly observers: readonly RequestObserver[];
  private readonly tracesAreWanted: boolean;
  private traces: OtlpTraces | null = null;

  constructor(
    metrics: ServerMetrics,
    private readonly logger: Logger,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.tracesAreWanted = asksForTraces(env);
    this.observers = [
      accessLog(logger),
      (request) => metrics.requestEnded(request),
      ...(this.tracesAreWanted ? [(request: EndedRequest) => this.traces?.add(request)] : []),
    ];
  }

  /** To be awaited before anybody is answered. */
  async open(): Promise<void> {
    if (!this.tracesAreWanted) return;
    const { OtlpTraces } = await import('./observe/otlp-traces.js');
    this.traces = new OtlpTraces(this.logger);
  }

  /** Sends what is left, for a short while. */
  async close(): Promise<void> {
    await this.traces?.close();
  }
}

function asksForTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  const disabled =
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return !disabled && endpointNames.some((name) => (env[name] ?? '') !== '');
}
