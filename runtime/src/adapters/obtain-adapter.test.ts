import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownFolder } from './obtain-adapter.js';

let weightsDir: string;
let other: ChildProcess;

beforeEach(() => {
  weightsDir = mkdtempSync(join(tmpdir(), 'llmservice-own-'));
  other = spawn('sleep', ['60']);
});
afterEach(() => {
  other.kill();
  rmSync(weightsDir, { recursive: true });
});

const adaptersOf = (pid: number | undefined): string => `llmservice-adapters-${hostname()}-${String(pid)}`;

function leave(name: string): void {
  mkdirSync(join(weightsDir, name, 'pulled'), { recursive: true });
  writeFileSync(join(weightsDir, name, 'pulled', 'adapter_model.safetensors'), 'half');
}

test('what processes that are gone left of adapters goes, and what others use stays', () => {
  const { pid } = spawnSync('true');
  for (const each of [pid, process.pid, other.pid]) leave(adaptersOf(each));
  leave('adapters-of-mine');
  leave(`llmservice-adapters-elsewhere-${String(pid)}`);
  leave('models-base-1234');

  const own = ownFolder(weightsDir);
  expect(own).toBe(join(weightsDir, adaptersOf(process.pid)));
  expect(readdirSync(weightsDir).sort()).toEqual(
    [
      'adapters-of-mine',
      `llmservice-adapters-elsewhere-${String(pid)}`,
      adaptersOf(other.pid),
      'models-base-1234',
    ].sort(),
  );

  leave(adaptersOf(process.pid));
  expect(ownFolder(weightsDir)).toBe(own);
  expect(readdirSync(weightsDir)).toContain(adaptersOf(process.pid));
});

test('a folder that is not there yet has nothing to clear', () => {
  expect(ownFolder(join(weightsDir, 'later'))).toBe(join(weightsDir, 'later', adaptersOf(process.pid)));
});
