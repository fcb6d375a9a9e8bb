// The activator's settings, from its environment, parsed once.

import { ports } from '@llmservice/crds';
import { parseNamespaces } from '../options.js';

export interface ActivatorSettings {
  /** Null: all namespaces. */
  readonly watchNamespaces: readonly string[] | null;
  readonly port: number;
  /** Folder with tls.crt and tls.key, for requests by HTTPS; null: it takes none. */
  readonly tlsDir: string | null;
  readonly tlsPort: number;
  readonly metricsPort: number;
  readonly logLevel: string;
  readonly maxHeld: number;
  readonly maxHeldPerService: number;
  readonly graceSeconds: number;
  readonly drainSeconds: number;
}

/** @throws Error naming every setting that is wrong */
export function parseActivatorSettings(env: Readonly<Record<string, string | undefined>>): ActivatorSettings {
  const errors: string[] = [];
  const count = (name: string, fallback: number, most: number): number => {
    const text = env[name]?.trim() ?? '';
    const value = text === '' ? fallback : Number(text);
    if (Number.isInteger(value) && value >= 0 && value <= most) return value;
    errors.push(`${name} must be a whole number up to ${String(most)}`);
    return fallback;
  };
  const text = (name: string): string | null => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? null : value;
  };
  const settings = {
    watchNamespaces: parseNamespaces(text('WATCH_NAMESPACE')),
    port: count('PORT', ports.activator, 65535),
    tlsDir: text('TLS_DIR'),
    tlsPort: count('TLS_PORT', ports.secureActivator, 65535),
    metricsPort: count('METRICS_PORT', ports.operatorMetrics, 65535),
    logLevel: text('LOG_LEVEL') ?? 'info',
    maxHeld: count('MAX_HELD', 1000, 100_000),
    maxHeldPerService: count('MAX_HELD_PER_SERVICE', 250, 100_000),
    graceSeconds: count('GRACE_SECONDS', 10, 3600),
    drainSeconds: count('DRAIN_SECONDS', 120, 3600),
  };
  if (errors.length > 0) throw new Error(errors.join('; '));
  return settings;
}
