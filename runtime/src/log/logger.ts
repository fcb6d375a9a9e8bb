// The process's log: one JSON object per line on standard output. Constant messages, data as fields.

import winston, { format, type Logger } from 'winston';

export type { Logger } from 'winston';

export function makeLogger(level: string): Logger {
  return winston.createLogger({
    level,
    format: format.combine(format.errors({ stack: true }), format.timestamp(), format.json()),
    transports: [new winston.transports.Console()],
  });
}
