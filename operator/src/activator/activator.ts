// Takes requests of services that are asleep: wakes the service, holds the request, and sends it on, in the order of
// arrival, once a pod answers. Holds so many and no more, so long and no longer, and never keeps an answer back.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { healthPaths, routes, streamCheckPaths, type ActivatorErrorCode } from '@llmservice/crds';
import { ActivatorError } from './activator-error.js';
import type { Directory, Place } from './directory.js';
import { HeldQueue, type QueueLimits } from './held-queue.js';
import { HeldRequest, refuse } from './held-request.js';
import { PodTurns } from './pod-turns.js';
import { readBody } from './read-body.js';
import type { Waker } from './waker.js';

export interface ActivatorOptions {
  readonly directory: Pick<Directory, 'find' | 'place'>;
  readonly waker: Pick<Waker, 'wake'>;
  readonly limits: QueueLimits & { readonly bodyBytes: number };
  readonly onForwarded: () => void;
  readonly onRefused: (code: ActivatorErrorCode) => void;
}

type Pods = Pick<Place & { readonly state: 'ready' }, 'urls' | 'identity'>;

export interface DrainTimes {
  /** How long what is held may still be sent on. */
  readonly heldMs: number;
  /** How long answers under way may take after that. */
  readonly answersMs: number;
}

/** Who waits has the service woken again: the first time may have been lost. */
const wakeAgainMs = 5_000;
/** Until pods are tried again where none could be reached. */
const retryMs = 500;
const ending = (): ActivatorError =>
  new ActivatorError('draining', 'this replica of the activator ends: try again', 1);
const notReady = (): ActivatorError =>
  new ActivatorError('model_not_ready', 'the model was not loaded in time: try again', 10);
const unverified = (key: string): ActivatorError =>
  new ActivatorError(
    'upstream_unverified',
    `no pod of ${key} shows a certificate by the authorities that its tls.caConfigMapRef names, for the name of its Service`,
    10,
  );

export class Activator {
  private readonly queue: HeldQueue<HeldRequest>;
  private readonly turns = new PodTurns();
  /** Held, or answered just now. */
  private readonly active = new Set<HeldRequest>();
  /** Services whose requests are being sent on. */
  private readonly pumping = new Set<string>();
  private readonly waking: NodeJS.Timeout;
  private state: 'open' | 'draining' | 'closed' = 'open';

  constructor(private readonly options: ActivatorOptions) {
    this.queue = new HeldQueue(options.limits);
    this.waking = setInterval(() => {
      for (const key of this.queue.keys) void options.waker.wake(key);
    }, wakeAgainMs);
  }

  get held(): number {
    return this.queue.size;
  }

  private get closed(): boolean {
    return this.state === 'closed';
  }

  /** Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.state !== 'open') response.setHeader('connection', 'close');
    try {
      await this.take(request, response);
    } catch (error) {
      // Else the client went away within its body.
      if (error instanceof ActivatorError)
        this.refuse(error, (refused) => refuse(request, response, refused));
      else response.destroy();
    }
  }

  /** Sends on what waits for a service, if it can. */
  changed(key: string): void {
    void this.pump(key);
  }

  /** Takes nothing more; answers what it holds, then ends. */
  async drain({ heldMs, answersMs }: DrainTimes): Promise<void> {
    this.state = 'draining';
    for (const held of this.active) held.endConnection();
    const deadline = performance.now() + heldMs;
    while (this.queue.size > 0 && performance.now() < deadline) await sleep(50);
    this.state = 'closed';
    for (const key of this.queue.keys) this.refuseAll(key, ending());
    const answered = Promise.all([...this.active].map(({ ended }) => ended));
    const patience = new AbortController();
    await Promise.race([
      answered,
      sleep(answersMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
    for (const held of this.active) held.fail();
    clearInterval(this.waking);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.state !== 'open') throw ending();
    request.url = originForm(request.url);
    const key = this.options.directory.find(request.headers.host);
    const place = this.options.directory.place(key);
    if (place.state === 'refused') throw place.error;
    // Who only looks whether it is well does not wake it.
    if (place.state === 'waiting' && isProbe(request)) {
      throw new ActivatorError(
        'model_not_ready',
        `the service ${key} is asleep: a request for its model wakes it`,
      );
    }
    if (!this.queue.admit(key)) {
      throw new ActivatorError('queue_full', `too many requests wait for ${key}: try again later`, 5);
    }
    if (place.state === 'waiting') void this.options.waker.wake(key);
    const room = this.queue.room(key);
    let body: Buffer;
    try {
      body = await readBody(request, room, this.options.limits.bodyBytes);
    } catch (error) {
      this.queue.leave(key);
      throw error;
    }
    const { byteLength } = body;
    if (response.destroyed || this.closed) {
      this.queue.leave(key);
      room.giveBytes(byteLength);
      throw ending();
    }
    this.hold(key, new HeldRequest(request, response, body, () => room.giveBytes(byteLength)));
    void this.pump(key);
  }

  private hold(key: string, held: HeldRequest): void {
    const place = this.options.directory.place(key);
    const timeoutMs = place.state === 'refused' ? 0 : place.timeoutMs;
    this.active.add(held);
    if (this.state !== 'open') held.endConnection();
    this.queue.join(key, held);
    const deadline = setTimeout(() => {
      if (this.queue.remove(key, held)) this.refuse(notReady(), (error) => held.refuse(error));
    }, timeoutMs);
    void held.ended.then(() => {
      clearTimeout(deadline);
      this.queue.remove(key, held);
      this.active.delete(held);
    });
  }

  private async pump(key: string): Promise<void> {
    if (this.pumping.has(key)) return;
    this.pumping.add(key);
    try {
      for (;;) {
        const place = this.options.directory.place(key);
        if (place.state === 'refused') this.refuseAll(key, place.error);
        if (place.state !== 'ready') return;
        const held = this.queue.first(key);
        if (held === null) return;
        // One after the other, so that pods see them in their order.
        await this.sendOn(key, held, place);
      }
    } finally {
      this.pumping.delete(key);
    }
  }

  /** It stays the first in line until a pod has taken it. */
  private async sendOn(key: string, held: HeldRequest, { urls, identity }: Pods): Promise<void> {
    const url = this.turns.next(key, urls);
    const reach = held.gone ? null : await held.forward(url, identity).catch(() => held.fail());
    if (reach === 'reached') {
      this.turns.reached(url);
      this.options.onForwarded();
    } else if (!held.gone) {
      this.turns.unreached(url);
      const areAway = this.turns.areAway(urls);
      if (reach !== 'unverified' || !areAway) {
        if (areAway) await sleep(retryMs);
        return;
      }
      this.refuse(unverified(key), (error) => held.refuse(error));
    }
    this.queue.remove(key, held);
  }

  private refuseAll(key: string, error: ActivatorError): void {
    for (;;) {
      const held = this.queue.first(key);
      if (held === null) return;
      this.queue.remove(key, held);
      this.refuse(error, (refused) => held.refuse(refused));
    }
  }

  private refuse(error: ActivatorError, answer: (error: ActivatorError) => void): void {
    this.options.onRefused(error.code);
    answer(error);
  }
}

function isProbe({ url = '', method }: IncomingMessage): boolean {
  const path = url.split('?')[0] ?? '';
  if (streamCheckPaths.includes(path)) return true;
  return method !== 'POST' && (path === routes.metrics || healthPaths.includes(path));
}

/** The target of a request line as servers have it; proxies may be sent whole URLs. @throws ActivatorError */
function originForm(target = '/'): string {
  if (target.startsWith('/')) return target;
  const path = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)?.[1];
  if (path !== undefined) return path.startsWith('/') ? path : `/${path}`;
  throw new ActivatorError('invalid_request', 'the request line must have a path, such as /v1/models');
}
