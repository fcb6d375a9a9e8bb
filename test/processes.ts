// Programs that tests start: each on ports and in folders of its own, stopped by its process id and by nothing else.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const repository = join(fileURLToPath(new URL('.', import.meta.url)), '..');

/** Folders with the programs of the given tools, built first where they are not there yet. */
export function toolFolders(...tools: string[]): string[] {
  const output = execFileSync(join(repository, 'deploy/local/tools/build.sh'), tools, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return output.trim().split('\n');
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a program that logs to a file and dies with the test at the latest. */
export function start(
  program: string,
  args: string[],
  logFile: string,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  // A program that is not there shows as a line of its log, and as one that never gets ready.
  child.on('error', (error) => log.write(`${error.message}\n`));
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
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
  timeoutMs = 40_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await sleep(100);
  } while (Date.now() < deadline);
  throw new Error(
    `gave up waiting for ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  );
}
