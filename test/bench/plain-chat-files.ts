// How many of our own files a plain streamed chat runs code of, in the process of the server: what somebody has to read who
// asks what happens to a request. A file counts when one of its functions ran for the second chat of a kind, by V8's counters.
// usage: tsx test/bench/plain-chat-files.ts [--functions]
//
// - The server is the replica as a pod runs it, with the demo model and no setting but that; the chat has the three members that
//   a client has to send for a streamed one.
// - Left out, and printed: files of which code ran while nobody asked for anything (timers, heartbeats of the engine), and the
//   tokenizer, the chat template and the engine's client, which have tests and pages of their own.
// - `--functions` prints beside each file which of its functions ran.

import { once } from 'node:events';
import { basename, dirname, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { eventually, freePort, repository } from '../processes.js';

const idleMs = 15_000;
/** Until what follows an answer is done: metrics, log lines. */
const settleMs = 1_000;

/** Folders that have the tokenizer, the chat template, and the engine as the server sees it. */
const apart = ['runtime/src/tokens/', 'runtime/src/engine/', 'runtime/src/schedule/', 'native/ts/'];

/** As clients have to send it. */
const plainChat = {
  model: 'demo',
  stream: true,
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
};

/** Names of the functions that ran, by the file's path in the repository. */
type Ran = ReadonlyMap<string, readonly string[]>;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** V8's counters in another process, which listens for a debugger. */
class Profiler {
  private calls = 0;

  private constructor(private readonly socket: WebSocket) {}

  static async attach(port: number): Promise<Profiler> {
    const [target] = await eventually('the inspector', async () => {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/json/list`);
      return (await answer.json()) as [{ readonly webSocketDebuggerUrl: string }];
    });
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await once(socket, 'open');
    const profiler = new Profiler(socket);
    await profiler.call('Profiler.enable');
    await profiler.call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return profiler;
  }

  /** What ran since the last time. */
  async take(): Promise<Ran> {
    const { result } = (await this.call('Profiler.takePreciseCoverage')) as Coverage;
    const ran = new Map<string, string[]>();
    for (const { url, functions } of result) {
      const file = sourceOf(url);
      const names = functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName }) => functionName);
      if (file !== null && names.length > 0) ran.set(file, names);
    }
    return ran;
  }

  close(): void {
    this.socket.close();
  }

  private async call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.calls;
    const answered = new Promise<unknown>((resolve, reject) => {
      const read = ({ data }: MessageEvent): void => {
        const answer = JSON.parse(String(data)) as {
          id?: number;
          result?: unknown;
          error?: { message: string };
        };
        if (answer.id !== id) return;
        this.socket.removeEventListener('message', read);
        if (answer.error === undefined) resolve(answer.result);
        else reject(new Error(`${method}: ${answer.error.message}`));
      };
      this.socket.addEventListener('message', read);
    });
    this.socket.send(JSON.stringify({ id, method, params }));
    return answered;
  }
}

/** The TypeScript of a script of ours; null: it is Node's or a package's. */
function sourceOf(url: string): string | null {
  if (!url.startsWith('file:')) return null;
  const path = relative(repository, decodeURIComponent(new URL(url).pathname));
  if (path.startsWith('..') || path.includes('node_modules/')) return null;
  const sources = path.startsWith('native/') ? 'ts' : 'src';
  return path.replace('/dist/', `/${sources}/`).replace(/\.js$/, '.ts');
}

async function chat(replica: ReplicaProcess): Promise<void> {
  const answer = await (await replica.post('/v1/chat/completions', plainChat)).text();
  if (!answer.endsWith('data: [DONE]\n\n')) throw new Error(`no whole answer: ${answer.slice(0, 300)}`);
  await sleep(settleMs);
}

function print(title: string, files: readonly string[], ran: Ran): void {
  console.log(`\n${title}: ${String(files.length)}`);
  const withFunctions = process.argv.includes('--functions');
  if (withFunctions) {
    for (const file of files.toSorted()) console.log(`  ${file}: ${(ran.get(file) ?? []).join(' ')}`);
    return;
  }
  for (const folder of new Set(files.toSorted().map(dirname))) {
    const names = files.filter((file) => dirname(file) === folder).map((file) => basename(file));
    console.log(`  ${folder} (${String(names.length)}): ${names.toSorted().join(', ')}`);
  }
}

const port = await freePort();
const env = { NODE_OPTIONS: `--inspect-port=127.0.0.1:${String(port)}` };
const replica = await ReplicaProcess.start({ uri: demoCheckpoint, env });
try {
  await replica.ready();
  replica.child.kill('SIGUSR1');
  const profiler = await Profiler.attach(port);
  await chat(replica);
  await profiler.take();
  await sleep(idleMs);
  const idle = await profiler.take();
  await chat(replica);
  const ran = await profiler.take();
  profiler.close();
  const files = [...ran.keys()];
  const isApart = (file: string): boolean => apart.some((folder) => file.startsWith(folder));
  const isIdle = (file: string): boolean => idle.has(file);
  print('also run while idle, not counted', files.filter(isIdle), idle);
  print(
    'tokenizer, chat template and engine, not counted',
    files.filter((file) => !isIdle(file) && isApart(file)),
    ran,
  );
  print(
    'files of a plain streamed chat',
    files.filter((file) => !isIdle(file) && !isApart(file)),
    ran,
  );
} finally {
  await replica.stop();
}
