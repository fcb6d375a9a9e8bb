// What watches the requests of one replica, made from its configuration: the access log, metrics of whole requests, the
// request log, and traces where an endpoint for them is set. What is not asked for is not even loaded.

import { readList } from '@llmservice/crds';
import { hostname } from 'node:os';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { Logger } from './log/logger.js';
import { LineMetrics } from './metrics/line-metrics.js';
import type { ServerMetrics } from './metrics/server-metrics.js';
import { accessLog } from './observe/access-line.js';
import type { EndedRequest, RequestObserver } from './observe/ended-request.js';
import type { OtlpTraces } from './observe/otlp-traces.js';
import { RecentErrors } from './observe/recent-errors.js';
import { requestLogLine } from './observe/request-log-line.js';
import { S3RequestLog } from './observe/s3-request-log.js';
import { storeSettingsOf } from './store-settings.js';
import { makeS3Client } from './weights/s3-client.js';

/** Names of OpenTelemetry's own variables that say where traces go. */
const endpointNames = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** OpenTelemetry's variable for names that change: a value of this form asks for both, as `http/dup` does of HTTP's. */
const optIns = 'OTEL_SEMCONV_STABILITY_OPT_IN';
const bothNames = 'gen_ai/dup';

type Environment = Readonly<Record<string, string | undefined>>;

export class Observability {
  readonly observers: readonly RequestObserver[];
  readonly recentErrors = new RecentErrors();
  private readonly tracesAreWanted: boolean;
  private readonly withOldNames: boolean;
  private traces: OtlpTraces | null = null;

  /** @param requestLog null: there is none */
  constructor(
    metrics: ServerMetrics,
    private readonly logger: Logger,
    env: Environment,
    private readonly requestLog: S3RequestLog | null,
  ) {
    this.tracesAreWanted = asksForTraces(env);
    this.withOldNames = readList(env[optIns] ?? '').includes(bothNames);
    this.observers = [
      accessLog(logger),
      (request) => metrics.requestEnded(request),
      (request) => {
        if (request.errorCode !== null) this.recentErrors.add(request, request.errorCode);
      },
      ...(requestLog === null ? [] : [(request: EndedRequest) => requestLog.add(requestLogLine(request))]),
      ...(this.tracesAreWanted ? [(request: EndedRequest) => this.traces?.add(request)] : []),
    ];
  }

  /** To be awaited before anybody is answered. */
  async open(): Promise<void> {
    if (!this.tracesAreWanted) return;
    const { OtlpTraces } = await import('./observe/otlp-traces.js');
    this.traces = new OtlpTraces(this.logger, this.withOldNames);
  }

  /** Sends what is left, for a short while. */
  async close(): Promise<void> {
    await Promise.all([this.traces?.close(), this.requestLog?.close()]);
  }
}

/** Null: none is asked for. */
export function makeRequestLog(
  config: ResolvedConfig,
  { registry }: ServerMetrics,
  logger: Logger,
): S3RequestLog | null {
  const { requestLog } = config.server;
  if (requestLog === null) return null;
  const options = {
    ...requestLog,
    writer: `${hostname()}-${String(process.pid)}`,
    flushMs: 10_000,
    objectBytes: 4 * 2 ** 20,
    bufferBytes: 32 * 2 ** 20,
    farewellMs: 5_000,
    clock: Date.now,
  };
  const events = new LineMetrics(registry, config.engineConfig.model.name, 'request_log');
  return new S3RequestLog(options, makeS3Client(storeSettingsOf(config).s3), logger, events);
}

function asksForTraces(env: Environment): boolean {
  const disabled =
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return !disabled && endpointNames.some((name) => (env[name] ?? '') !== '');
}
