// Key files as Kubernetes mounts and changes them: `keys.yaml` is a link to `..data/keys.yaml`, and `..data` a link that
// is swapped.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { realTimers } from '../intervals.fixture.js';
import { makeLogger } from '../log/logger.js';
import { sha256 } from '../../../crds/src/keys/configured-key.fixture.js';
import { KeyFolder } from './key-folder.js';

const file = (...texts: string[]): string =>
  `keys:\n${texts.map((text) => `  - { id: ${text}, sha256: ${sha256(text)} }\n`).join('')}`;

class Mount {
  readonly dir = mkdtempSync(join(tmpdir(), 'llmservice-keys-'));
  readonly read: (number | null)[] = [];
  readonly logged: object[] = [];
  readonly folder = new KeyFolder(this.dir, this.logger(), {
    keysRead: (keys) => this.read.push(keys?.length ?? null),
  });
  private revision = 0;

  /**
   * As the kubelet writes a Secret.
   * @param content null: a file that no look comes to the end of before it is written to
   * @returns where the file lies
   */
  mount(content: string | null, name = 'keys.yaml'): string {
    this.revision += 1;
    const data = `..${String(this.revision)}`;
    mkdirSync(join(this.dir, data));
    const path = join(this.dir, data, name);
    if (content === null) execFileSync('mkfifo', [path]);
    else writeFileSync(path, content);
    symlinkSync(data, join(this.dir, '..data_tmp'));
    renameSync(join(this.dir, '..data_tmp'), join(this.dir, '..data'));
    if (this.revision === 1) symlinkSync(join('..data', name), join(this.dir, name));
    return path;
  }

  async until(read: (number | null)[]): Promise<void> {
    while (this.read.length < read.length) await this.look();
    expect(this.read).toEqual(read);
  }

  /** A second passes, and what is read then has come: all but from a disk that hangs. */
  async look(): Promise<void> {
    jest.advanceTimersByTime(1_000);
    await sleep(20);
  }

  close(): void {
    this.folder.close();
    rmSync(this.dir, { recursive: true });
  }

  private logger() {
    const logger = makeLogger('error');
    logger.transports[0]!.silent = true;
    logger.on('data', (line: { level: string }) => line.level === 'error' && this.logged.push(line));
    return logger;
  }
}

let mount: Mount;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: realTimers });
  mount = new Mount();
});
afterEach(() => {
  mount.close();
  jest.useRealTimers();
});

describe('a mounted key file', () => {
  test('is read again when Kubernetes swaps it', async () => {
    mount.mount(file('one'));
    await mount.folder.open();
    expect(mount.folder.find('one')?.id).toBe('one');
    mount.mount(file('two', 'three'));
    await mount.until([1, 2]);
    expect(mount.folder.find('one')).toBeNull();
    expect(mount.folder.find('three')?.id).toBe('three');
  });

  test('that is broken leaves the keys as they were, is logged once, and can be mended', async () => {
    mount.mount(file('one'));
    await mount.folder.open();
    mount.mount('keys: [{ id: two }]');
    await mount.until([1, null]);
    expect(mount.folder.find('one')?.id).toBe('one');
    for (let looks = 0; looks < 3; looks++) await mount.look();
    expect(mount.read).toEqual([1, null]);
    expect(mount.logged).toEqual([
      expect.objectContaining({ level: 'error', problem: 'keys[0].sha256 is required' }),
    ]);
    mount.mount(file('two'));
    await mount.until([1, null, 1]);
    expect(mount.folder.find('two')?.id).toBe('two');
  });

  test('is checked once at a time, though its disk hangs', async () => {
    mount.mount(file('one'));
    await mount.folder.open();
    const pipe = mount.mount(null);
    for (let looks = 0; looks < 3; looks++) await mount.look();
    mount.mount(file('two', 'three'));
    writeFileSync(pipe, file('one'));
    await mount.until([1, 2]);
  });

  test('may be JSON', async () => {
    mount.mount(JSON.stringify({ keys: [{ id: 'one', sha256: sha256('one') }] }), 'keys.json');
    await mount.folder.open();
    expect(mount.folder.find('one')?.id).toBe('one');
  });
});

test.each<[string, () => void, RegExp]>([
  ['no file', () => undefined, /keys\.yaml and keys\.json must be there/],
  ['a broken one', () => void mount.mount('keys: []'), /keys must be a list/],
  [
    'two',
    () => {
      mount.mount(file('one'));
      writeFileSync(join(mount.dir, 'keys.json'), '{}');
    },
    /both there; remove one/,
  ],
])('with %s there is no beginning', async (_, prepare, message) => {
  prepare();
  await expect(mount.folder.open()).rejects.toMatchObject({
    reason: 'KeysInvalid',
    message: expect.stringMatching(message),
  });
  expect(mount.folder.find('')).toBeNull();
});
