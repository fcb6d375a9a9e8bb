// A span exporter that logs when its endpoint begins to fail, and when it is back: once each.

import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../log/logger.js';

export class LoggedExporter implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.log(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private log({ code, error }: ExportResult): void {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed === this.failing) return;
    this.failing = failed;
    if (failed)
      this.logger.error('traces cannot be sent, and are lost until they can', {
        cause: String(error?.message),
      });
    else this.logger.info('traces are sent again');
  }
}
