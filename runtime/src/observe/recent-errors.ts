// The last requests that ended with an error, for who views the page.

import type { EndedRequest } from './ended-request.js';

const most = 20;

export interface RecentError {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** As the table of routes writes it; null: there is no such route. */
  readonly route: string | null;
  readonly code: string;
}

export class RecentErrors {
  #errors: readonly RecentError[] = [];

  add({ arrivedAtMs, route }: EndedRequest, code: string): void {
    this.#errors = [{ at: arrivedAtMs, route, code }, ...this.#errors].slice(0, most);
  }

  /** Newest first. */
  get errors(): readonly RecentError[] {
    return this.#errors;
  }
}
