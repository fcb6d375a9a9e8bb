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
