// Times as cron writes them.

import { Cron } from 'croner';

/** Five fields. @throws Error saying what is wrong with the expression or the time zone */
export function cron(expression: string, timeZone: string): Cron {
  return new Cron(expression.replace(/ +/g, ' '), { timezone: timeZone, mode: '5-part', paused: true });
}
