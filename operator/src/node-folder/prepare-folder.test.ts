// The folder on a real file system, as root: who owns what afterwards, and what somebody else may have put in its way.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { prepareFolder } from './prepare-folder.js';

const user = 65532;
const names = ['namespaces', 'team'];
const asRoot = process.getuid?.() === 0 ? describe : describe.skip;
let base: string;
let top: string;
let outside: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'llmservice-folder-'));
  [top, outside] = [join(base, 'top'), join(base, 'outside')];
  for (const folder of [top, outside]) mkdirSync(folder, { mode: 0o755 });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const prepare = (): void => prepareFolder(top, names, user);
const look = (...path: string[]): [owner: number, mode: number] => {
  const { uid, mode } = lstatSync(join(top, ...path));
  return [uid, mode & 0o7777];
};
const isUntouched = (): boolean => lstatSync(outside).uid === 0 && readdirSync(outside).length === 0;

asRoot('a folder of a namespace', () => {
  test('is its user’s alone, and all above it stays root’s', () => {
    prepare();
    prepare();
    expect([look(), look('namespaces'), look('namespaces', 'team')]).toEqual([
      [0, 0o755],
      [0, 0o755],
      [user, 0o700],
    ]);
  });

  test('is completed where an earlier run ended between two steps', () => {
    mkdirSync(join(top, 'namespaces', 'team'), { recursive: true, mode: 0o700 });
    chmodSync(join(top, 'namespaces'), 0o755);
    prepare();
    expect(look('namespaces', 'team')).toEqual([user, 0o700]);
  });

  test('lies beside what an earlier release kept in the allowed folder, which goes back to root', () => {
    mkdirSync(join(top, 'entries'));
    for (const each of [top, join(top, 'entries')]) chownSync(each, user, user);
    chmodSync(top, 0o777);
    prepare();
    expect([look(), look('entries')[0], look('namespaces', 'team')]).toEqual([
      [0, 0o755],
      user,
      [user, 0o700],
    ]);
  });
});

asRoot('nothing is given away', () => {
  const made = (path: string[], owner = 0, mode = 0o755): void => {
    mkdirSync(join(top, ...path), { recursive: true });
    chmodSync(join(top, ...path), mode);
    chownSync(join(top, ...path), owner, owner);
  };
  test.each<[string, string, () => void]>([
    ['where the folder of all is a link', 'is a link', () => symlinkSync(outside, join(top, 'namespaces'))],
    [
      'where the folder is a link',
      'is a link',
      () => {
        made(['namespaces']);
        symlinkSync(outside, join(top, 'namespaces', 'team'));
      },
    ],
    [
      'where the folder is a file',
      'is a link, or something else',
      () => {
        made(['namespaces']);
        writeFileSync(join(top, 'namespaces', 'team'), '');
      },
    ],
    [
      'where the allowed folder is a link',
      'is a link',
      () => {
        rmSync(top, { recursive: true });
        symlinkSync(outside, top);
      },
    ],
    ['where the allowed folder is for all', 'written to by others', () => chmodSync(top, 0o1777)],
    ['where the allowed folder is another’s', 'belongs to user 1000', () => chownSync(top, 1000, 1000)],
    ['where the folder of all is the runtime’s', 'belongs to user 65532', () => made(['namespaces'], user)],
    ['where a group may write', 'written to by others', () => made(['namespaces'], 0, 0o775)],
    [
      'where the folder is another’s',
      'belongs to user 1000',
      () => {
        made(['namespaces']);
        made(['namespaces', 'team'], 1000);
      },
    ],
  ])('%s', (_, message, plant) => {
    plant();
    const failure = thrownBy(FailureError, prepare);
    expect([failure.reason, failure.message]).toEqual([
      'WeightsCacheUnsafe',
      expect.stringContaining(message),
    ]);
    expect(isUntouched()).toBe(true);
  });

  test('while somebody puts links in the place of both folders, again and again', async () => {
    made(['namespaces', 'team']);
    const swap = `
      const fs = require('node:fs');
      const [top, outside] = process.argv.slice(1);
      const swapOnce = (path) => {
        try { fs.renameSync(path, path + '.kept'); fs.symlinkSync(outside, path); } catch {}
        try { fs.rmSync(path); } catch {}
        try { fs.renameSync(path + '.kept', path); } catch {}
      };
      process.stdout.write('ready');
      for (;;) { swapOnce(top + '/namespaces/team'); swapOnce(top + '/namespaces'); }`;
    const attacker = spawn(process.execPath, ['-e', swap, top, outside], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(attacker.stdout, 'data');
    const counts = { prepared: 0, refused: 0, escaped: 0 };
    try {
      for (let run = 0; run < 4_000; run += 1) {
        try {
          prepare();
          counts.prepared += 1;
        } catch {
          counts.refused += 1;
        }
        if (!isUntouched()) counts.escaped += 1;
      }
    } finally {
      attacker.kill('SIGKILL');
      await once(attacker, 'exit');
    }
    // Both happened, so that the race was run.
    expect(counts).toEqual({ prepared: expect.any(Number), refused: expect.any(Number), escaped: 0 });
    expect(Math.min(counts.prepared, counts.refused)).toBeGreaterThan(0);
  });
});
