// The server's launcher, or its engine, has no file descriptor left for the processes that tokenize and compile: requests that
// need one end with the cause, an honest stream alongside them continues, and all works again once there are descriptors.

import { expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { enginePids, grammarPid, isRunning, launcherPid, textPids } from '../process-tree.js';
import { eventually } from '../processes.js';
import { attackedReplica, portOf } from './attacked-replica.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);

const replica = attackedReplica();

/** Of a process that may open `left` files more; the others keep theirs. */
function limitDescriptors(pid: number, left: number): void {
  const open = new Set(readdirSync(`/proc/${String(pid)}/fd`).map(Number));
  let most = 0;
  for (let free = 0; free < left; most += 1) if (!open.has(most)) free += 1;
  setDescriptors(pid, most);
}

function setDescriptors(pid: number, most: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${String(most)}:4096`]);
}

interface Answer {
  readonly error?: { readonly code: string; readonly message: string };
}

async function ask(body: object): Promise<[number, Answer['error']]> {
  const response = await replica().post('/v1/completions', { max_tokens: 4, ...body });
  return [response.status, ((await response.json()) as Answer).error];
}

const longText = { prompt: 'hello '.repeat(10_000), truncate_prompt_tokens: 10 };

test('a long text that no process can be started for is refused with the cause', async () => {
  const witness = await Witness.begin({ port: portOf(replica()) });
  const server = replica().child.pid!;
  const launcher = launcherPid(server);
  // Enough for connections, and with what a process that ends gives back not for the six that one needs to start.
  await eventually('the last text process to end', () => {
    const [pid] = textPids(server);
    if (pid === undefined) return true;
    limitDescriptors(launcher, 2);
    process.kill(pid, 'SIGKILL');
    return false;
  });
  // The server may not know yet that the last one ended, and have given it the text: that is refused too.
  const error = await eventually('a text that a process has to be started for', async () => {
    const [status, error] = await ask(longText);
    expect([status, error?.code]).toEqual([503, 'EngineFault']);
    return error?.message.startsWith('the text process ended') === true ? null : error;
  });
  expect(error.message).toMatch(/^no process can be started to tokenize or render text: spawn .*EMFILE/);
  expect(await ask({ prompt: 'hello' })).toEqual([200, undefined]);
  setDescriptors(launcher, 4096);
  await eventually('a long text to be tokenized', async () => (await ask(longText))[0] === 200);
  await witness.end();
  expect(witness.faults).toEqual([]);
});

test('a grammar that no process can be started for is refused with the cause', async () => {
  const witness = await Witness.begin({ port: portOf(replica()) });
  const [engine = 0] = enginePids(replica().child.pid!);
  const grammars = grammarPid(engine);
  limitDescriptors(engine, 2);
  process.kill(grammars, 'SIGKILL');
  await eventually('the process to end', () => !isRunning(grammars));
  const [status, error] = await ask({ prompt: 'a', guided_choice: ['yes', 'no'] });
  expect([status, error?.code]).toEqual([503, 'EngineFault']);
  expect(error?.message).toContain('was not compiled, twice: the process that compiles cannot be started: ');
  expect(await ask({ prompt: 'hello' })).toEqual([200, undefined]);
  setDescriptors(engine, 4096);
  await eventually(
    'a grammar to be compiled',
    async () => (await ask({ prompt: 'a', guided_choice: ['yes', 'no'] }))[0] === 200,
  );
  await witness.end();
  expect(witness.faults).toEqual([]);
  const { engine: health } = await replica().health();
  expect(health?.restarts).toBe(0);
});
