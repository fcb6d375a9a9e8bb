// The administration of one replica as its configuration asks for it: a port of its own, and keys that may change.

import { FailureError } from '@llmservice/crds';
import type { ServerSettings } from './config/server-settings.js';
import { makeAdminApp, type ReplicaControl } from './http/admin-app.js';
import { HttpServer, type TlsSource } from './http/server/http-server.js';
import type { ServerParts } from './http/replica/server-parts.js';
import { KeyFolder } from './keys/key-folder.js';

export class AdminServer {
  private constructor(
    private readonly host: string,
    private readonly port: number,
    private readonly keys: KeyFolder,
    private readonly http: HttpServer,
  ) {}

  /**
   * Null: the settings ask for none.
   * @throws FailureError InvalidEngineConfig when there is a port and no keys
   */
  static of(
    { adminHost, adminPort, adminKeysDir }: ServerSettings,
    parts: ServerParts,
    control: ReplicaControl,
    tls: TlsSource | null,
  ): AdminServer | null {
    if (adminPort === null) return null;
    if (adminKeysDir === null) {
      const message =
        'an administration without keys would be everybody’s: --admin-port needs --admin-keys-dir';
      throw new FailureError('InvalidEngineConfig', message);
    }
    const keys = new KeyFolder(adminKeysDir, parts.logger, { keysRead: () => undefined });
    const http = new HttpServer(makeAdminApp({ server: parts, control, keys }), parts, tls);
    return new AdminServer(adminHost, adminPort, keys, http);
  }

  /** @throws FailureError KeysInvalid, InvalidEngineConfig */
  async open(): Promise<void> {
    await this.keys.open();
    try {
      await this.http.listen(this.host, this.port);
    } catch (error) {
      const place = `${this.host}:${String(this.port)} (--admin-host, --admin-port)`;
      const message = `cannot listen on ${place}: ${(error as Error).message}`;
      throw new FailureError('InvalidEngineConfig', message, undefined, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.keys.close();
    await this.http.close();
  }
}
