// The port at which a prefill pod takes prompts of decode pods.

import { FailureError } from '@llmservice/crds';
import type { ServerSettings } from './config/server-settings.js';
import { makePrefillApp } from './http/prefill-app.js';
import { HttpServer } from './http/server/http-server.js';
import type { ServerParts } from './http/replica/server-parts.js';

export class PrefillServer {
  private constructor(
    private readonly host: string | null,
    private readonly port: number,
    private readonly http: HttpServer,
  ) {}

  /** Null: the replica is no prefill pod. */
  static of(settings: ServerSettings, server: ServerParts): PrefillServer | null {
    const { disaggregationRole, host, prefillPort, kvTransferPort: transferPort } = settings;
    if (disaggregationRole !== 'prefill') return null;
    return new PrefillServer(
      host,
      prefillPort,
      new HttpServer(makePrefillApp({ server, transferPort }), server),
    );
  }

  /** @throws FailureError InvalidEngineConfig */
  async open(): Promise<void> {
    try {
      await this.http.listen(this.host, this.port);
    } catch (error) {
      const place = `${this.host ?? 'any address'}:${String(this.port)} (--host, --prefill-port)`;
      const message = `cannot listen on ${place}: ${(error as Error).message}`;
      throw new FailureError('InvalidEngineConfig', message, undefined, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.http.close();
  }
}
