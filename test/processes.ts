// Programs that tests start: each on ports and in folders of its own, stopped by its process id and by nothing else.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

export const repository = join(fileURLToPath(new URL('.', import.meta.url)), '..');

/** Folders with the programs of the given tools, built first where they are not there yet. */
export function toolFolders(...tools: string[]): string[] {
  const output = execFileSync(join(repository, 'deploy/local/tools/build.sh'), tools, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return output.trim().split('\n');
}

/** Ports that this process has given away; whoever got one may not listen on it yet. */
const given = new Set<number>();
/** Processes that run tests at once must not give away the same one: each has a range of its own, the first, second or third. */
const rangePorts = 5_900;
const firstPort = 15_000 + rangePorts * Number(process.env.LLMSERVICE_TEST_PORTS ?? 0);

/**
 * A port of nobody, and none of those (from 32768 on) that the kernel gives to who connects: one of these may be a client's
 * by the time at which its server, which connects to others first, comes to listen on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, firstPort + rangePorts);
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * Starts a program that logs to a file and dies with the test at the latest. It writes the file itself: what it has said is
 * there at once, however busy the test is.
 */
export function start(
  program: string,
  args: string[],
  logFile: string,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const log = openSync(logFile, 'a');
  const child = spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  closeSync(log);
  // A program that is not there shows as a line of its log, and as one that never gets ready.
  child.on('error', (error) => appendFileSync(logFile, `${error.message}\n`));
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** What a command printed and how it ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with `input` on its standard input. */
export async function run(
  program: string,
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A program that ends without having read its input closes the pipe: how it ended says what there is to say.
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Polls until `probe` gives something other than null, undefined or false. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T> | T,
  timeoutMs = 60_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    // Whoever has waited so long asks once more: this process itself may have had no processor.
    const isLast = Date.now() >= deadline;
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (isLast) break;
    await sleep(100);
  }
  throw new Error(
    `gave up waiting for ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  );
}

/** What `read` gives once it has given the same for a while: six times in a row, each of them an answer of a busy machine. */
export async function settled<T>(what: string, read: () => Promise<T> | T): Promise<T> {
  let last: T | undefined;
  let same = 0;
  await eventually(`${what} to change no more`, async () => {
    const value = await read();
    same = isDeepStrictEqual(value, last) ? same + 1 : 1;
    last = value;
    if (same < 6) await sleep(200);
    return same >= 6;
  });
  return last as T;
}
