// What the log keeps of a failure that ends the process.

import { failureKinds } from '@llmservice/crds';
import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import winston from 'winston';
import { reportFailure } from './end-process.js';
import { makeLogger } from './log/logger.js';

test('the message of its line is constant, and the failure lies in fields', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-end-'));
  const lines: string[] = [];
  const stream = new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString());
      done();
    },
  });
  const logger = makeLogger('info').clear().add(new winston.transports.Stream({ stream }));
  const failure = { reason: 'ModelNotFound', message: 'there is nothing at DIR' } as const;
  reportFailure(failure, join(folder, 'termination'), logger);
  expect(JSON.parse(lines.join(''))).toMatchObject({
    level: 'error',
    message: 'giving up',
    reason: 'ModelNotFound',
    cause: 'there is nothing at DIR',
    remedy: failureKinds.ModelNotFound.remedy,
  });
  expect(readFileSync(join(folder, 'termination'), 'utf8')).toContain('there is nothing at DIR');
  rmSync(folder, { recursive: true });
});
