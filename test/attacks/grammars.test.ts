// Forms of answers that explode, and the processes that compile them lost, stopped or left behind: other answers come, and
// nothing outlives the server.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { enginePids, grammarPid, isRunning, processTree } from '../process-tree.js';
import { eventually } from '../processes.js';
import { askFor, grammarAttacks, knownBomb, memoryBomb, slowForm, timeBomb } from './grammar-attacks.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

let replica: ReplicaProcess;
let port: number;
beforeEach(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, drainTimeoutSeconds: 2 });
  await replica.ready();
  port = Number(new URL(replica.url).port);
});
afterEach(() => replica.stop());

const ask = (form: object, over = new AbortController().signal) => askFor(form, { port, headers: {}, over });
const choice = { guided_choice: ['yes', 'no'] };
const yesOrNo = { status: 200, content: expect.stringMatching(/^(yes|no)$/) };
const engine = (): number => enginePids(replica.child.pid!)[0]!;

/** The processes that compile right now, oldest first. */
const compiling = (): number[] =>
  processTree(grammarPid(engine())).filter((pid) => nameOf(pid) === 'compile-form');
function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${String(pid)}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}
const oneCompiles = (): Promise<number> =>
  replica.eventually('a form to be compiled', () => Promise.resolve(compiling()[0]));

test('schemas known to explode are refused unseen, by the name of the keyword', async () => {
  const asked = [knownBomb, knownBomb].map((guided_json) => ask({ guided_json }));
  expect(await ask(choice)).toMatchObject(yesOrNo);
  for (const answer of await Promise.all(asked)) {
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    expect(answer.error!.message).toContain('minProperties is supported beside at most 100 properties');
  }
});

test('schemas that explode in time or memory end alone; choices are answered beside them', async () => {
  const witness = await Witness.begin({ port });
  const ended: string[] = [];
  const bombs = [timeBomb(1), memoryBomb(2), timeBomb(3)].map(async (guided_json) => {
    const answer = await ask({ guided_json });
    ended.push('bomb');
    return answer;
  });
  await oneCompiles();
  for (let i = 0; i < 5; i += 1) {
    expect(await ask({ guided_choice: ['yes', 'no', String(i)] })).toMatchObject({ status: 200 });
    ended.push('choice');
  }
  // What takes seconds has its turn too.
  await Promise.all(bombs);
  await witness.end();
  expect(ended.slice(0, 2)).toContain('choice');
  expect(ended.lastIndexOf('bomb')).toBeGreaterThan(ended.lastIndexOf('choice'));
  for (const bomb of bombs) {
    const { status, error } = await bomb;
    const expected =
      status === 400 ? { code: 'GrammarInvalid' } : { code: 'QueueTimeout', message: expect.any(String) };
    expect(error).toMatchObject(expected);
  }
  const [first] = await Promise.all(bombs);
  expect(first!.error!.message).toMatch(
    /s of processor time, or .* s in all: make it smaller|MiB to compile: make it smaller/,
  );
  // What was refused is refused again without work.
  expect(await ask({ guided_json: timeBomb(1) })).toEqual(first);
  expect(compiling()).toEqual([]);
  expect(witness.faults).toEqual([]);
});

test('a client that leaves takes its compilation along', async () => {
  const left = new AbortController();
  const asked = ask({ guided_json: timeBomb(1) }, left.signal).catch(() => 'left');
  const pid = await oneCompiles();
  left.abort();
  expect(await asked).toBe('left');
  await eventually('its process to end', () => Promise.resolve(!isRunning(pid)), 30_000);
  expect(await ask(choice)).toMatchObject(yesOrNo);
});

test.each<[string, NodeJS.Signals, () => number]>([
  ['a process that compiles is killed', 'SIGKILL', () => compiling()[0]!],
  ['a process that compiles is stopped', 'SIGSTOP', () => compiling()[0]!],
  ['the process that those are forked from is killed', 'SIGKILL', () => grammarPid(engine())],
  ['the process that those are forked from is stopped', 'SIGSTOP', () => grammarPid(engine())],
])('%s: the form is compiled once more, and all are answered', async (_, signal, victim) => {
  const witness = await Witness.begin({ port });
  const asked = ask({ guided_json: slowForm(1) });
  await oneCompiles();
  process.kill(victim(), signal);
  expect(await ask(choice)).toMatchObject(yesOrNo);
  expect(await asked).toMatchObject({ status: 200, content: expect.stringMatching(/^\{/) });
  await witness.end();
  expect(witness.faults).toEqual([]);
});

test('a form whose process is lost twice is told as the fault of the server', async () => {
  const asked = ask({ guided_json: timeBomb(1) });
  const first = await oneCompiles();
  process.kill(first, 'SIGKILL');
  await eventually('the second', () => Promise.resolve(compiling().some((pid) => pid !== first)), 30_000);
  process.kill(
    compiling().find((pid) => pid !== first)!,
    'SIGKILL',
  );
  expect(await asked).toMatchObject({ status: 503, error: { code: 'EngineFault' } });
  expect(await ask(choice)).toMatchObject(yesOrNo);
});

test.each<[string, () => void]>([
  ['a drain', () => replica.child.kill('SIGTERM')],
  ['a killed engine', () => process.kill(engine(), 'SIGKILL')],
  ['a killed server', () => replica.child.kill('SIGKILL')],
])('%s leaves no process that compiles', async (_, end) => {
  const asked = ask({ guided_json: timeBomb(1) }).catch(() => null);
  const pids = [await oneCompiles(), grammarPid(engine())];
  end();
  await eventually('them to end', () => Promise.resolve(!pids.some(isRunning)), 60_000);
  await asked;
});

test.each(grammarAttacks.map((attack) => [attack.name, attack] as const))(
  '%s: a stream beside it loses no token',
  async (_, { run }) => {
    const over = new AbortController();
    const witness = await Witness.begin({ port });
    const target = { port, headers: {}, over: over.signal };
    await Promise.all([0, 1, 2].map((seed) => run({ ...target, random: randomFrom(seed) })));
    expect(await ask(choice)).toMatchObject(yesOrNo);
    await witness.end();
    expect(witness.faults).toEqual([]);
  },
);
