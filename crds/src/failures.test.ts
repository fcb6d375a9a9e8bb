import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { FailureError, failureKinds, failureReasons } from './failures.js';

describe('FailureError', () => {
  it('describes its failure without a detail that it has not', () => {
    expect(new FailureError('S3Unavailable', 'no answer').failure).toEqual({
      reason: 'S3Unavailable',
      message: 'no answer',
    });
  });
});

describe('the table of failures', () => {
  const page = readFileSync(new URL('../../deploy/docs/failures.md', import.meta.url), 'utf8');

  it.each(failureReasons)('documents %s as it is', (reason) => {
    const { terminal, httpStatus, remedy } = failureKinds[reason];
    const row = `| \`${reason}\` | ${terminal ? 'yes' : 'no'} | ${String(httpStatus)} | ${remedy} |`;
    expect(page.split('\n')).toContain(row);
  });

  it('documents no failure that is gone', () => {
    const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason]) => reason);
    expect(documented).toEqual(failureReasons);
  });
});
