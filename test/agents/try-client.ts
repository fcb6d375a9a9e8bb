// One client against a whole replica that serves its script: a folder and a HOME of its own, and no network but the server.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFiles } from '../builders/files.js';
import { scriptedContext, writeScriptedCheckpoint } from '../builders/scripted-checkpoint.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { answer, question, type Client, type Place } from './client.js';
import { install } from './packages.js';
import { Recorder, type Exchange } from './recorder.js';

export interface Trial {
  readonly exchanges: readonly Exchange[];
  readonly output: string;
  /** Empty: it did its task. */
  readonly faults: readonly string[];
}

interface Ending {
  readonly code: number | null;
  readonly output: string;
}

const timeoutMs = 180_000;
/** In the client's own network. */
const port = 8080;

export async function tryClient(client: Client): Promise<Trial> {
  const programs = install(client.packages);
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-agent-'));
  const model = join(folder, 'model');
  const place = { url: `http://127.0.0.1:${String(port)}`, ...folders(folder), model, programs };
  writeFiles(place.work, { [question.file]: Buffer.from(question.text) });
  for (const [path, text] of Object.entries(client.settings?.(place) ?? {}))
    writeFiles(place.home, { [path]: Buffer.from(text) });
  // Scripts in HOME import the packages.
  if (client.packages.from === 'npm') symlinkSync(dirname(programs), join(folder, 'node_modules'));
  writeScriptedCheckpoint(model, client.script(place.work), demoCheckpoint);
  const engine = { maxModelLen: scriptedContext, maxNumSeqs: 4 };
  const replica = await ReplicaProcess.start({ uri: model, engine });
  const socket = join(folder, 'server');
  const recorder = await Recorder.listen(socket, replica.url);
  try {
    await replica.ready();
    const ending = await runConfined(client, place, socket);
    const { exchanges } = recorder;
    return { exchanges, output: ending.output, faults: faultsOf(client, place, exchanges, ending) };
  } finally {
    await recorder.close();
    await replica.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function folders(folder: string): Pick<Place, 'home' | 'work'> {
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  for (const each of [home, work]) mkdirSync(each);
  return { home, work };
}

async function runConfined(client: Client, place: Place, socket: string): Promise<Ending> {
  const confined = fileURLToPath(new URL('confined.ts', import.meta.url));
  const tsx = ['--import', fileURLToPath(import.meta.resolve('tsx')), confined];
  const unshare = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const args = [...unshare, process.execPath, ...tsx, socket, String(port), ...client.command(place)];
  const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin`;
  const child = spawn('unshare', args, {
    cwd: place.work,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of whoever runs it: their keys and settings are not the client's.
    env: { PATH, HOME: place.home, LANG: 'C.UTF-8', ...client.env?.(place) },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const timer = setTimeout(() => void child.kill('SIGKILL'), timeoutMs);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, output };
}

function faultsOf(
  { says, writes, asks = [], refused = [] }: Client,
  { work }: Place,
  exchanges: readonly Exchange[],
  { code, output }: Ending,
): string[] {
  const refusals = exchanges
    .filter(({ status }) => status >= 400)
    .map(({ method, path, status, reply }) => ({ line: `${method} ${path} ${String(status)}`, reply }))
    .filter(({ line }) => !refused.includes(line));
  const written = join(work, answer.file);
  const isWritten = existsSync(written) && readFileSync(written, 'utf8').trim() === answer.text.trim();
  const isRead = exchanges.some(({ request }) => request.includes(question.text.trim()));
  const asked = new Set(exchanges.map(({ method, path }) => `${method} ${path}`));
  return [
    ...(code === 0 ? [] : [code === null ? 'it did not end' : `it ended with ${String(code)}`]),
    ...(output.includes(says) ? [] : [`it does not say ${JSON.stringify(says)}`]),
    ...(writes && !isRead ? [`it did not send what is in ${question.file}`] : []),
    ...(writes && !isWritten ? [`it did not write ${answer.file}`] : []),
    ...asks.filter((line) => !asked.has(line)).map((line) => `it did not ask: ${line}`),
    ...refusals.map(({ line, reply }) => `refused: ${line}: ${reply.slice(0, 500)}`),
  ];
}
