// Structured output that explodes, and the processes that compile them lost, stopped or left behind: other answers come, and
// nothing outlives the server.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { enginePids, grammarPid, isRunning, processTree } from '../process-tree.js';
import { eventually } from '../processes.js';
import {
  askFor,
  grammarAttacks,
  knownBomb,
  memoryBomb,
  slowConstraint,
  timeBomb,
  type Answer,
} from './grammar-attacks.js';
import { portOf } from './attacked-replica.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

/** A schema's salt is one of its own in each test: what was refused is refused again unseen. */
let replica: ReplicaProcess;
/** For what would take as long again. */
let other: ReplicaProcess;
beforeAll(async () => {
  const start = () => ReplicaProcess.start({ uri: demoCheckpoint, drainTimeoutSeconds: 2 });
  [replica, other] = await Promise.all([start(), start()]);
  await Promise.all([replica.ready(), other.ready()]);
});
afterAll(() => Promise.all([replica.stop(), other.stop()]));

const ask = (format: object, over = new AbortController().signal, of = replica) =>
  askFor(format, { port: portOf(of), headers: {}, over });
/** Where others have the processors, which says nothing of how the server takes a loss. */
const isStarved = ({ error }: Answer): boolean =>
  error?.code === 'QueueTimeout' && error.message.includes('it got too little processor time');
const choice = { guided_choice: ['yes', 'no'] };
const yesOrNo = { status: 200, error: null, content: expect.stringMatching(/^(yes|no)$/) };
const engine = (of = replica): number => enginePids(of.child.pid!)[0]!;

/** The processes that compile right now, oldest first. */
const compiling = (of = replica): number[] =>
  processTree(grammarPid(engine(of))).filter((pid) => nameOf(pid) === 'compile-grammar');
function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${String(pid)}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}
/** Looks more often than others who wait: a small one is compiled in a quarter of a second. */
const oneCompiles = (of = replica, but = 0): Promise<number> =>
  of.eventually('a grammar to be compiled', async () => {
    for (let looks = 0; looks < 100; looks += 1) {
      const pid = compiling(of).find((each) => each !== but);
      if (pid !== undefined) return pid;
      await sleep(5);
    }
    return null;
  });
/** What a test that failed has left behind would be taken for what the next one asks for. */
const noneCompiles = (of = replica): Promise<boolean> =>
  of.eventually('no grammar to be compiled', () => Promise.resolve(compiling(of).length === 0));

test('schemas known to explode are refused unseen, by the name of the keyword', async () => {
  const asked = [knownBomb, knownBomb].map((guided_json) => ask({ guided_json }));
  expect(await ask(choice)).toMatchObject(yesOrNo);
  for (const answer of await Promise.all(asked)) {
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    expect(answer.error!.message).toContain('minProperties is supported with at most 100 properties');
  }
});

test('schemas that explode in time or memory end alone; choices are answered beside them', async () => {
  const witness = await Witness.begin({ port: portOf(replica) });
  const ended: string[] = [];
  await noneCompiles();
  const schemas = [timeBomb(1), memoryBomb(2), timeBomb(3)];
  const bombs = schemas.slice(0, 1).map((guided_json) => ask({ guided_json }));
  await oneCompiles();
  bombs.push(...schemas.slice(1).map((guided_json) => ask({ guided_json })));
  for (const bomb of bombs) void bomb.then(() => ended.push('bomb'));
  const over = new AbortController();
  // Each as `make prove` sends it, one of which leaves.
  const attacks = grammarAttacks.map(({ run }, i) =>
    run({ port: portOf(replica), headers: {}, over: over.signal, random: randomFrom(i) }),
  );
  for (let i = 0; i < 5; i += 1) {
    expect(await ask({ guided_choice: ['yes', 'no', String(i)] })).toMatchObject({ status: 200 });
    ended.push('choice');
  }
  // What takes seconds has its turn too.
  const answers = await Promise.all(bombs);
  await Promise.all(attacks);
  expect(await ask(choice)).toMatchObject(yesOrNo);
  await witness.end();
  expect(ended.slice(0, 2)).toContain('choice');
  expect(ended.lastIndexOf('bomb')).toBeGreaterThan(ended.lastIndexOf('choice'));
  // On a busy machine all may have waited in vain. That what is refused is refused again without work: grammar-queue.test.ts.
  for (const { status, error } of answers) {
    const expected =
      status === 400
        ? {
            code: 'GrammarInvalid',
            message: expect.stringMatching(/(s in all|MiB to compile): make it smaller/),
          }
        : { code: 'QueueTimeout', message: expect.stringMatching(/too little processor time|waited 30 s/) };
    expect(error).toMatchObject(expected);
  }
  await noneCompiles();
  expect(witness.faults).toEqual([]);
});

test('a client that leaves takes its compilation along', async () => {
  await noneCompiles();
  const left = new AbortController();
  const asked = ask({ guided_json: timeBomb(4) }, left.signal).catch(() => 'left');
  const pid = await oneCompiles();
  left.abort();
  expect(await asked).toBe('left');
  await eventually('its process to end', () => Promise.resolve(!isRunning(pid)), 30_000);
  expect(await ask(choice)).toMatchObject(yesOrNo);
});

test.each<[string, NodeJS.Signals]>([
  ['killed', 'SIGKILL'],
  ['stopped', 'SIGSTOP'],
])(
  '%s: the grammar is compiled once more, and all are answered, whether it compiles or what it is forked from',
  async (_, signal) => {
    const salt = { SIGKILL: 50, SIGSTOP: 60 }[signal as string]!;
    const harmed = async (of: ReplicaProcess, victim: (compiles: number) => number): Promise<void> => {
      const witness = await Witness.begin({ port: portOf(of) });
      // Another grammar each time, and harmed again: a loss that the server does not make good fails.
      for (let tries = 1; ; tries += 1) {
        await noneCompiles(of);
        const answered: string[] = [];
        const asked = ask({ guided_json: slowConstraint(salt + tries) }, undefined, of);
        void asked.then(() => answered.push('slow'));
        process.kill(victim(await oneCompiles(of)), signal);
        const answer = await ask({ guided_choice: ['yes', 'no', signal, String(tries)] }, undefined, of);
        answered.push('choice');
        const slow = await asked;
        if (tries < 3 && (isStarved(slow) || isStarved(answer))) continue;
        expect(answer).toMatchObject({
          ...yesOrNo,
          content: expect.stringMatching(/^(yes|no|SIG[A-Z]+|[1-3])$/),
        });
        expect(slow).toMatchObject({ ...yesOrNo, content: expect.stringMatching(/^\{/) });
        // What is small does not count as slow for the time in which nothing compiles.
        expect(answered).toEqual(['choice', 'slow']);
        break;
      }
      await witness.end();
      expect(witness.faults).toEqual([]);
    };
    await Promise.all([
      harmed(replica, (compiles) => compiles),
      harmed(other, () => grammarPid(engine(other))),
    ]);
  },
);

test('a grammar whose process is lost twice is reported as the fault of the server', async () => {
  await noneCompiles();
  const asked = ask({ guided_json: timeBomb(7) });
  const first = await oneCompiles();
  process.kill(first, 'SIGKILL');
  process.kill(await oneCompiles(replica, first), 'SIGKILL');
  expect(await asked).toMatchObject({ status: 503, error: { code: 'EngineFault' } });
  expect(await ask(choice)).toMatchObject(yesOrNo);
});

// They end the servers: the last of all.
test.each<[string, () => ReplicaProcess, (of: ReplicaProcess) => void]>([
  ['a killed engine', () => other, (of) => process.kill(engine(of), 'SIGKILL')],
  ['a drain', () => replica, ({ child }) => child.kill('SIGTERM')],
  ['a killed server', () => other, ({ child }) => child.kill('SIGKILL')],
])('%s leaves no process that compiles', async (name, which, end) => {
  const of = which();
  await of.eventually('an engine', async () => (await of.health()).engine?.state === 'ready');
  const asked = ask({ guided_json: timeBomb(8 + name.length) }, undefined, of).catch(() => null);
  const pids = [await oneCompiles(of), grammarPid(engine(of))];
  end(of);
  await eventually('them to end', () => Promise.resolve(!pids.some(isRunning)), 60_000);
  await asked;
});
