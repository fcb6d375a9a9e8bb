// The router's settings, from its environment, parsed once.

import { paths, ports } from '@llmservice/crds';

export interface RouterSettings {
  /** Folder with the table of routes. */
  readonly routesDir: string;
  /** Folder with the key file; null: keys are not asked for. */
  readonly keysDir: string | null;
  readonly port: number;
  readonly metricsPort: number;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  /** Of all bodies that are kept at once. */
  readonly maxKeptBytes: number;
  readonly drainSeconds: number;
  /** Routers that share each budget of a key. */
  readonly replicas: number;
  readonly accounting: AccountingSettings | null;
}

export interface AccountingSettings {
  /** Of all routers of the gateway. */
  readonly dir: string;
  /** NAMESPACE/NAME, in each line. */
  readonly gateway: string;
  /** A file that has reached it is followed by another. */
  readonly fileBytes: number;
}

const mib = 2 ** 20;

/** @throws Error naming every setting that is wrong */
export function parseRouterSettings(env: Readonly<Record<string, string | undefined>>): RouterSettings {
  const errors: string[] = [];
  const text = (name: string): string | null => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? null : value;
  };
  const count = (name: string, fallback: number, max: number): number => {
    const value = Number(text(name) ?? fallback);
    if (Number.isInteger(value) && value >= 0 && value <= max) return value;
    errors.push(`${name} must be a whole number up to ${String(max)}`);
    return fallback;
  };
  const [dir, gateway] = [text('ACCOUNTING_DIR'), text('GATEWAY')];
  const fileBytes = count('ACCOUNTING_FILE_BYTES', 64 * mib, 1024 * mib);
  if (dir !== null && gateway === null)
    errors.push('GATEWAY must be NAMESPACE/NAME where ACCOUNTING_DIR is set');
  const settings = {
    routesDir: text('ROUTES_DIR') ?? paths.routes,
    keysDir: text('KEYS_DIR'),
    port: count('PORT', ports.router, 65535),
    metricsPort: count('METRICS_PORT', ports.operatorMetrics, 65535),
    logLevel: text('LOG_LEVEL') ?? 'info',
    maxBodyBytes: count('MAX_BODY_BYTES', 32 * mib, 1024 * mib),
    maxKeptBytes: count('MAX_KEPT_BYTES', 128 * mib, 64 * 1024 * mib),
    drainSeconds: count('DRAIN_SECONDS', 600, 86_400),
    replicas: Math.max(1, count('ROUTER_REPLICAS', 1, 1_000)),
    accounting: dir === null || gateway === null ? null : { dir, gateway, fileBytes },
  };
  if (errors.length > 0) throw new Error(errors.join('; '));
  return settings;
}
