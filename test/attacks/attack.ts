// What an attack on a running server is: one client's worth of hostile input. CI runs each once, `make prove` all at once.

import type { Random } from '../load/chaos.js';

export interface AttackTarget {
  readonly port: number;
  /** Sent with each request: the attacker's own API key, where the server has keys. */
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
  /** The run is over: an attacker that waits leaves. */
  readonly over: AbortSignal;
}

export interface Attack {
  readonly name: string;
  /** Ends once the attacker has its answer or has left. @throws Error when the answer is not the one that it should be */
  readonly run: (target: AttackTarget) => Promise<void>;
}

/** One request on a connection of its own, which would stay open for the next one otherwise. */
export function post(
  { port, headers, over }: Pick<AttackTarget, 'port' | 'headers' | 'over'>,
  path: string,
  body: object | Uint8Array<ArrayBuffer>,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${String(port)}${path}`, {
    method: 'POST',
    headers: { ...headers, ...more.headers, connection: 'close' },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
    signal: more.signal ?? over,
  });
}
