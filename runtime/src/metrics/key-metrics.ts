// Metrics of API keys. The label `key` has ids of the key file only, never what a client sent.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { AccountingRecord } from '@llmservice/crds/accounting';
import type { Limit } from '@llmservice/crds/keys';
import type { KeyFileEvents } from '../keys/key-folder.js';

export class KeyMetrics implements KeyFileEvents {
  readonly #requests: Counter;
  readonly #prompt: Counter;
  readonly #cached: Counter;
  readonly #completion: Counter;
  readonly #refused: Counter;
  readonly #unauthorized: Counter;
  readonly #configured: Gauge;
  readonly #valid: Gauge;
  readonly #model: { readonly model_name: string };

  constructor(registry: Registry, modelName: string) {
    this.#model = { model_name: modelName };
    const metric = (name: string, help: string, labels: readonly string[] = []) => ({
      name: `llmservice_${name}`,
      help,
      labelNames: ['model_name', ...labels],
      registers: [registry],
    });
    const key = ['key'];
    this.#requests = new Counter(metric('key_requests_total', 'Requests of a key that ended.', key));
    this.#prompt = new Counter(metric('key_prompt_tokens_total', 'Prompt tokens of a key.', key));
    this.#cached = new Counter(
      metric('key_cached_tokens_total', 'Prompt tokens of a key that the prefix cache had.', key),
    );
    this.#completion = new Counter(metric('key_completion_tokens_total', 'Tokens generated for a key.', key));
    this.#refused = new Counter(
      metric('key_refused_total', 'Requests refused with 429, by the limit that their key reached.', [
        'key',
        'limit',
      ]),
    );
    this.#unauthorized = new Counter(metric('unauthorized_total', 'Requests refused with 401.'));
    this.#configured = new Gauge(metric('keys_configured', 'Keys that are let in.'));
    this.#valid = new Gauge(
      metric('key_file_valid', '0 while the key file is broken and older keys stand; else 1.'),
    );
    this.#unauthorized.inc(this.#model, 0);
  }

  keysRead(keys: readonly unknown[] | null): void {
    this.#valid.set(this.#model, keys === null ? 0 : 1);
    if (keys !== null) this.#configured.set(this.#model, keys.length);
  }

  unauthorized(): void {
    this.#unauthorized.inc(this.#model);
  }

  refused(key: string, limit: Limit): void {
    this.#refused.inc({ ...this.#model, key, limit });
  }

  generated(key: string, tokens: number): void {
    this.#completion.inc({ ...this.#model, key }, tokens);
  }

  finished(
    key: string,
    { promptTokens, cachedTokens }: Pick<AccountingRecord, 'promptTokens' | 'cachedTokens'>,
  ): void {
    this.#requests.inc({ ...this.#model, key });
    this.#prompt.inc({ ...this.#model, key }, promptTokens);
    this.#cached.inc({ ...this.#model, key }, cachedTokens);
  }
}
