// What the accounting log needs of a process's log.

export interface AccountingLogger {
  info(message: string, fields?: object): unknown;
  warn(message: string, fields?: object): unknown;
  error(message: string, fields?: object): unknown;
}
