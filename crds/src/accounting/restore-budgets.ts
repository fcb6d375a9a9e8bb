// Gives a process that starts what its keys spent of the day before it, as the accounting log says.

import type { KeyBudgets } from '../keys/index.js';
import type { AccountingLogger } from './accounting-logger.js';
import { spentToday } from './spent-today.js';

/**
 * To be awaited before a key's first request. A log that cannot be read is no reason not to serve.
 * @param dir folder of the logs of all processes that share the budgets
 * @param now Unix time in milliseconds
 */
export async function restoreBudgets(
  budgets: Pick<KeyBudgets, 'restore'>,
  dir: string,
  now: number,
  logger: AccountingLogger,
): Promise<void> {
  try {
    budgets.restore(await spentToday(dir, now, logger), now);
  } catch (error) {
    logger.warn('budgets of the day begin anew: the accounting log cannot be read', {
      dir,
      cause: (error as Error).message,
    });
  }
}
