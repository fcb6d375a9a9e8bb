// API keys, their budgets and the accounting log of one replica, made from its configuration and joined.

import { AccountingLog, restoreBudgets } from '@llmservice/crds/accounting';
import { KeyBudgets, MomentClock } from '@llmservice/crds/keys';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { Access } from './http/access/access.js';
import { KeyFolder } from './keys/key-folder.js';
import { limitError } from './keys/limit-error.js';
import type { Logger } from './log/logger.js';
import { LineMetrics } from './metrics/line-metrics.js';
import type { ServerMetrics } from './metrics/server-metrics.js';

/** Unix time in milliseconds. */
const unix = (): number => Date.now();

export class AccessControl {
  readonly access: Access;
  private readonly keys: KeyFolder | null;
  private readonly log: AccountingLog | null;
  private readonly accountingDir: string | null;
  private readonly moments = new MomentClock(unix, () => performance.now());

  constructor(
    { engineConfig, server }: ResolvedConfig,
    { keys: metrics, registry }: ServerMetrics,
    private readonly logger: Logger,
  ) {
    const { keysDir, maxReplicas, protectMetrics } = engineConfig.auth;
    const { dir } = engineConfig.accounting;
    const fileBytes = server.accountingFileBytes;
    this.accountingDir = dir;
    this.keys = keysDir === null ? null : new KeyFolder(keysDir, logger, metrics);
    this.log =
      dir === null
        ? null
        : AccountingLog.ofProcess(
            { dir, fileBytes, clock: unix },
            logger,
            new LineMetrics(registry, engineConfig.model.name, 'accounting'),
          );
    this.access = {
      keys: this.keys,
      protectMetrics,
      mostUrgentPriority: server.mostUrgentPriority,
      budgets: new KeyBudgets(maxReplicas, limitError(metrics)),
      metrics,
      log: this.log,
      clock: () => this.moments.now(),
      open: new Set(),
    };
  }

  /** To be awaited before anybody is answered. @throws FailureError KeysInvalid */
  async open(): Promise<void> {
    await this.keys?.open();
  }

  /** To be awaited before the first generation. */
  async restoreBudgets(): Promise<void> {
    const dir = this.accountingDir;
    if (dir !== null && this.keys !== null)
      await restoreBudgets(this.access.budgets, dir, unix(), this.logger);
  }

  async close(): Promise<void> {
    this.keys?.close();
    await this.log?.close();
  }
}
