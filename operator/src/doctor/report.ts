// The findings as text: by check, what is wrong with its remedy below, and a last line that counts. Pure.

import { checks, counted, type Finding, type Level } from './finding.js';

const marks: Readonly<Record<Level, string>> = {
  ok: 'ok      ',
  info: 'info    ',
  warning: 'warning ',
  problem: 'PROBLEM ',
};

export function describeFindings(findings: readonly Finding[]): string {
  const blocks = checks
    .map((check) => ({ check, found: findings.filter((each) => each.check === check) }))
    .filter(({ found }) => found.length > 0)
    .map(({ check, found }) => [check, ...found.flatMap(describe)].join('\n'));
  return `${[...blocks, summary(findings)].join('\n\n')}\n`;
}

function describe({ level, message, remedy }: Finding): string[] {
  const line = `  ${marks[level]}${message}`;
  return remedy === null ? [line] : [line, `          -> ${remedy}`];
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Level): number => findings.filter((each) => each.level === level).length;
  return `${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}, ${count('ok')} ok`;
}
