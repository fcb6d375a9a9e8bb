// Reads the TLS files every few seconds and gives new connections the new ones. Files that cannot be used are logged
// in the log, once, and the last good ones stay.

import type { Server } from 'node:https';
import type { Logger } from '../../log/logger.js';
import { areSame, readTlsFiles, type TlsFiles } from './tls-files.js';

/** Kubernetes takes up to a minute to bring a changed Secret to a node: looking oftener than this gains nothing. */
export const tlsReloadMs = 5_000;

export class TlsReload {
  private lastComplaint = '';
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly server: Server,
    private readonly folder: string,
    private files: TlsFiles,
    private readonly logger: Logger,
    everyMs = tlsReloadMs,
  ) {
    this.timer = setInterval(() => this.look(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    try {
      const found = readTlsFiles(this.folder);
      this.lastComplaint = '';
      if (areSame(found, this.files)) return;
      // Whether clients are asked for a certificate is settled when the server starts.
      if ((found.ca === undefined) !== (this.files.ca === undefined)) {
        throw new Error('client-ca.crt came or went, which needs a new start');
      }
      this.server.setSecureContext(found);
      this.files = found;
      this.logger.info('TLS certificate changed', { folder: this.folder });
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.lastComplaint)
        this.logger.warn('TLS files not taken; the last good ones stay', { cause: message });
      this.lastComplaint = message;
    }
  }
}
