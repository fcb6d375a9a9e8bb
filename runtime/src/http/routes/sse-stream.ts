// Server-sent events on one response: headers with the first byte, one write per event, a comment after silence
// so that proxies keep the connection, back-pressure from the client's socket.

import type { Response } from 'express';
import { obfuscated } from './obfuscated.js';

const silenceMs = 15_000;

export class SseStream {
  private readonly keepAlive: NodeJS.Timeout;

  /**
   * @param comment sent after silence
   * @param obfuscates whether events that are sent, but for the last ones, are not to show how long their texts are
   */
  constructor(
    private readonly response: Response,
    comment: string,
    private readonly obfuscates = false,
  ) {
    this.keepAlive = setInterval(() => {
      void this.write(comment);
    }, silenceMs);
    this.keepAlive.unref();
    response.once('close', () => clearInterval(this.keepAlive));
  }

  /** Whether bytes were sent, so that an error has to be an event. */
  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /** Answers before there is an event to send. */
  begin(): void {
    this.writeHead();
    this.response.flushHeaders();
  }

  /** Resolves when the client may get more; one call per engine step gives one flush per step. */
  async send(...events: readonly string[]): Promise<void> {
    if (events.length === 0) return;
    this.keepAlive.refresh();
    await this.write((this.obfuscates ? events.map(obfuscated) : events).join(''));
  }

  /** With the last events. */
  end(...events: readonly string[]): void {
    clearInterval(this.keepAlive);
    this.writeHead();
    this.response.end(events.join(''));
  }

  /** Stops the comments and leaves the response to whoever answers instead. */
  abandon(): void {
    clearInterval(this.keepAlive);
  }

  private async write(text: string): Promise<void> {
    if (this.response.destroyed) return;
    this.writeHead();
    const hasRoom = this.response.write(text);
    // Node keeps it until all that follows a step is done: metrics and log lines come after the token.
    this.response.socket?.uncork();
    if (hasRoom) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.once('drain', done).once('close', done);
    });
  }

  private writeHead(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  }
}
