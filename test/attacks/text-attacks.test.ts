// The text of requests against the tokenizer, alongside an honest stream: each attack twice at once.

import { expect, jest, test } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { eventually } from '../processes.js';
import { isRunning, launcherPid, textPids } from '../process-tree.js';
import { attackedReplica, portOf } from './attacked-replica.js';
import { textAttacks } from './text-attacks.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

const replica = attackedReplica();

test.each(textAttacks.map((attack) => [attack.name, attack] as const))(
  '%s: a stream alongside it loses no token',
  async (_, attack) => {
    const port = portOf(replica());
    const over = new AbortController();
    const witness = await Witness.begin({ port });
    await Promise.all(
      [1, 2].map((seed) => attack.run({ port, headers: {}, random: randomFrom(seed), over: over.signal })),
    );
    await witness.end();
    expect(witness.faults).toEqual([]);
    const { state, engine } = await replica().health();
    expect({ state, restarts: engine?.restarts }).toEqual({ state: 'serving', restarts: 0 });
  },
);

/** Three megabytes, more tokens than the context has. */
const tooLong = 'A pod is a group of containers. '.repeat(96_000);
const messages = [{ role: 'user', content: tooLong }];

test.each([
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 1 }],
  ['/v1/responses', { input: tooLong }],
  ['/v1/completions', { prompt: tooLong }],
])('three megabytes for %s are refused before any text process has them', async (path, body) => {
  const pids = textPids(replica().child.pid!);
  expect(pids).not.toEqual([]);
  // What one of these is given gets no answer, or is refused in the end as what takes too long.
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    for (const stream of [false, true]) {
      const answer = await replica().post(path, { ...body, stream });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ error: expect.objectContaining({ code: 'context_length_exceeded' }) }),
      ]);
    }
  } finally {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGCONT');
  }
});

/** What takes long, and is not refused by its length. */
const longWork = { prompt: 'a'.repeat(4_000_000), truncate_prompt_tokens: 10, max_tokens: 1 };

test('clients that leave take their encodings along', async () => {
  const leaving = new AbortController();
  const asked = Array.from({ length: 6 }, () =>
    replica()
      .post('/v1/completions', longWork, leaving.signal)
      .catch(() => null),
  );
  // Two are at work, and one is kept ready for shorter texts.
  await eventually('three processes', () => textPids(replica().child.pid!).length === 3);
  const before = textPids(replica().child.pid!);
  leaving.abort();
  await Promise.all(asked);
  await eventually(
    'those at work to be ended',
    () => before.filter((pid) => isRunning(pid)).length <= before.length - 2,
  );
  // On a machine that others load, the first answer may take longer than a text may.
  const body = { ...longWork, prompt: 'hello '.repeat(10_000) };
  await eventually(
    'an answer',
    async () => (await replica().post('/v1/completions', body)).status === 200,
    60_000,
  );
});

test('a server that is killed takes its text processes along, whatever they are at', async () => {
  const killed = await ReplicaProcess.start({ uri: demoCheckpoint });
  await killed.ready();
  const asked = killed.post('/v1/completions', longWork).catch(() => null);
  await eventually('two processes', () => textPids(killed.child.pid!).length === 2);
  const pids = textPids(killed.child.pid!);
  await killed.stop();
  await asked;
  await eventually('them to end', () => !pids.some((pid) => isRunning(pid)));
});

test('the process that starts text processes is replaced where it is lost', async () => {
  const server = replica().child.pid!;
  const lost = launcherPid(server);
  const pids = [lost, ...textPids(server)];
  process.kill(lost, 'SIGKILL');
  await eventually('all of them to end', () => !pids.some((pid) => isRunning(pid)));
  // On a machine that others load, the first answer may take longer than a text may.
  const body = { ...longWork, prompt: 'hello '.repeat(10_000) };
  await eventually(
    'an answer',
    async () => (await replica().post('/v1/completions', body)).status === 200,
    60_000,
  );
  expect(launcherPid(server)).not.toBe(lost);
});

/** Processor time, in hundredths of a second, of the thread besides the first that has most: the one that encodes. */
function encodingTicks(pid: number): number {
  const folder = `/proc/${String(pid)}/task`;
  const threads = readdirSync(folder).filter((thread) => Number(thread) !== pid);
  const ticks = threads.map((thread) => {
    const fields = readFileSync(`${folder}/${thread}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return Math.max(...ticks);
}

test('the process that starts text processes is replaced where it stalls', async () => {
  const server = replica().child.pid!;
  const stalled = launcherPid(server);
  const before = new Map(textPids(server).map((pid) => [pid, encodingTicks(pid)]));
  // More than what a process takes to start: one without a task is not to be ended.
  const isEncoding = (pid: number): boolean => encodingTicks(pid) - (before.get(pid) ?? 0) > 100;
  const leaving = new AbortController();
  const asked = [1, 2].map(() =>
    replica()
      .post('/v1/completions', longWork, leaving.signal)
      .catch(() => null),
  );
  await eventually('both to be at work', () => textPids(server).filter(isEncoding).length === 2);
  process.kill(stalled, 'SIGSTOP');
  leaving.abort();
  await Promise.all(asked);
  await eventually('it to be ended', () => !isRunning(stalled), 60_000);
  // On a machine that others load, the first answer may take longer than a text may.
  const body = { ...longWork, prompt: 'hello '.repeat(10_000) };
  await eventually(
    'an answer',
    async () => (await replica().post('/v1/completions', body)).status === 200,
    60_000,
  );
  expect(launcherPid(server)).not.toBe(stalled);
});

test('a checkpoint whose pattern takes exponential time is not loaded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-pattern-'));
  cpSync(demoCheckpoint, folder, { recursive: true });
  const path = join(folder, 'tokenizer.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const split = { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated', invert: false };
  const pretokenizers = [
    split,
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  ];
  writeFileSync(path, JSON.stringify({ ...file, pre_tokenizer: { type: 'Sequence', pretokenizers } }));
  const hostile = await ReplicaProcess.start({ uri: folder });
  await hostile.exited();
  expect(hostile.terminationMessage).toMatchObject({
    reason: 'TokenizerInvalid',
    message: expect.stringMatching(/tokenizer.json cannot be used/),
  });
  await hostile.stop();
  rmSync(folder, { recursive: true });
});
