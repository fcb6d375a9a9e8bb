// What a check has found: one line for a person, one object for a program.

export const checks = [
  'api server',
  'custom resource',
  'operator',
  'permissions',
  'nodes',
  'gateways',
  'metrics',
  'storage',
  'services',
  'gateways of models',
] as const;
export type Check = (typeof checks)[number];

/** `info` is neither good nor bad. What could not be read is a warning. */
export type Level = 'ok' | 'info' | 'warning' | 'problem';

export interface Finding {
  readonly check: Check;
  readonly level: Level;
  readonly message: string;
  /** What to do about it; null where nothing needs to be done. */
  readonly remedy: string | null;
}

/** The findings of one check, as they are made. */
export class Findings {
  readonly list: Finding[] = [];

  constructor(private readonly check: Check) {}

  ok(message: string): void {
    this.add('ok', message, null);
  }

  info(message: string, remedy: string | null = null): void {
    this.add('info', message, remedy);
  }

  warning(message: string, remedy: string | null): void {
    this.add('warning', message, remedy);
  }

  problem(message: string, remedy: string): void {
    this.add('problem', message, remedy);
  }

  private add(level: Level, message: string, remedy: string | null): void {
    this.list.push({ check: this.check, level, message, remedy });
  }
}

/** `one`, or `one, two and 3 more`. */
export function listed(names: readonly string[], most = 4): string {
  const rest = names.length - most;
  return rest > 0 ? `${names.slice(0, most).join(', ')} and ${rest} more` : names.join(', ');
}

/** "1 node", "2 nodes". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
