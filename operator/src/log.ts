// The operator's log: one JSON line per event, constant message, data as fields.

import winston from 'winston';

/** @param level null: nothing is logged */
export function createOperatorLogger(level: string | null): winston.Logger {
  return winston.createLogger({
    level: level ?? 'error',
    silent: level === null,
    format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
    transports: [new winston.transports.Console()],
  });
}
