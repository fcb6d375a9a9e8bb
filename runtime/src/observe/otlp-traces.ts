// Traces of requests, sent to an OTLP endpoint. Spans are made of what is known when a request has ended, so that nothing
// is done while it is served; they wait in a bounded queue, and what finds no room there is lost. Where they go, how
// often, and how many are sampled is said by OpenTelemetry's own variables, which its SDK reads.

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../log/logger.js';
import type { EndedRequest, TraceContext } from './ended-request.js';
import { phasesOf } from './request-totals.js';
import { isFailure, operationOf, spanAttributes } from './span-attributes.js';
import { LoggedExporter } from './logged-exporter.js';

const name = 'llmservice';
/** For what is left at the end. */
const farewellMs = 3_000;
const propagator = new W3CTraceContextPropagator();

export class OtlpTraces {
  private readonly provider: BasicTracerProvider;

  /** @param withOldNames whether attributes that were renamed are under both names */
  constructor(
    logger: Logger,
    private readonly withOldNames: boolean,
  ) {
    const exporter = new LoggedExporter(new OTLPTraceExporter(), logger);
    this.provider = new BasicTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': name }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
  }

  /** A request's span, and one for each phase that it came to. What has no route is no request of ours. */
  add(request: EndedRequest): void {
    const operation = operationOf(request.route);
    if (operation === null) return;
    // From the clock of the generations to Unix time.
    const at = (time: number): number => request.arrivedAtMs + (time - request.arrivedAt);
    const tracer = this.provider.getTracer(name);
    const span = tracer.startSpan(
      request.model === null ? operation : `${operation} ${request.model}`,
      {
        kind: SpanKind.SERVER,
        startTime: at(request.arrivedAt),
        attributes: spanAttributes(request, operation, this.withOldNames),
      },
      parentOf(request.traceContext),
    );
    if (isFailure(request)) span.setStatus({ code: SpanStatusCode.ERROR });
    const inside = trace.setSpan(ROOT_CONTEXT, span);
    const phases = phasesOf(request.generations);
    for (const phase of ['queue', 'prefill', 'decode'] as const) {
      const times = phases[phase];
      if (times === null) continue;
      tracer.startSpan(phase, { startTime: at(times.from) }, inside).end(at(times.to));
    }
    span.end(at(request.endedAt));
  }

  async close(): Promise<void> {
    const ended = this.provider.shutdown().catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([ended, new Promise<void>((resolve) => (timer = setTimeout(resolve, farewellMs)))]);
    clearTimeout(timer);
  }
}

/** Headers that make no sense are as none. */
function parentOf({ traceparent, tracestate }: TraceContext): Context {
  const headers: Attributes = {
    ...(traceparent === null ? {} : { traceparent }),
    ...(tracestate === null ? {} : { tracestate }),
  };
  return propagator.extract(ROOT_CONTEXT, headers, {
    get: (carrier: typeof headers, key) => carrier[key] as string | undefined,
    keys: (carrier: typeof headers) => Object.keys(carrier),
  });
}
