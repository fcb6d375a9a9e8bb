// Entry of the process that starts text processes for a server and passes on what they send. A fork stops the thread that asks
// for it and makes each of its pages fault once more: in a server of 750 MiB streams stall for 160 ms, in this process for 2.

import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { joinParts, sendInParts } from './message-parts.js';
import type {
  LauncherMessage,
  LauncherRequest,
  MessagePart,
  TextModel,
  TextProcessMessage,
  TextProcessStart,
} from './protocol.js';

const entry = fileURLToPath(new URL('text-process.js', import.meta.url));

/** Of JavaScript objects: a conversation of a million tokens is 4 MB of text, and no template needs this for it. */
const maxHeapMb = 384;
const flags = ['--expose-gc', `--max-old-space-size=${String(maxHeapMb)}`, '--max-semi-space-size=16'];
/** `ulimit` binds the shell, and so the process that takes its place. */
const limited = 'ulimit -d "$1"; shift; exec "$@"';

const running = new Map<number, ChildProcess>();
let receiveModel!: (part: MessagePart) => void;
const model = new Promise<TextModel>((resolve) => {
  receiveModel = joinParts((whole) => resolve(whole as TextModel));
});

function send(message: LauncherMessage): void {
  process.send?.(message);
}

function sendPart(child: ChildProcess, part: MessagePart, taken?: (error: Error | null) => void): void {
  // The channel may close under us; the exit of the process says what happened.
  if (child.connected) child.send(part, taken ?? (() => undefined));
}

function launch({ id, dataKb, tries }: LauncherRequest & { readonly kind: 'launch' }): void {
  const command = [process.execPath, ...flags, entry, String(process.pid)];
  let errors = '';
  const end = (code: number | null, signal: NodeJS.Signals | null, isStarted: boolean): void => {
    running.delete(id);
    send({ kind: 'ended', id, end: { isStarted, code, signal, errors } });
  };
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', ['-c', limited, 'sh', String(dataKb), ...command], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
  } catch (error) {
    // Node throws some of the reasons why a process cannot be made, and emits others later.
    errors = (error as Error).message;
    end(null, null, false);
    return;
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4096);
  });
  child.on('message', (message: TextProcessMessage) => send({ kind: 'message', id, message }));
  child.on('error', ({ message }) => {
    errors ||= message;
    if (child.pid === undefined && running.has(id)) end(null, null, false);
  });
  // `close`, not `exit`: what it wrote last has arrived then.
  child.on('close', (code, signal) => {
    if (running.has(id)) end(code, signal, true);
  });
  running.set(id, child);
  if (child.pid === undefined) return;
  send({ kind: 'launched', id, pid: child.pid });
  void model.then((known) => {
    const start: TextProcessStart = { ...known, tries };
    sendInParts(start, (part, taken) => sendPart(child, part, taken));
  });
}

process.once('disconnect', () => process.exit());
process.on('message', (request: LauncherRequest) => {
  switch (request.kind) {
    case 'model':
      receiveModel(request.part);
      return;
    case 'launch':
      launch(request);
      return;
    case 'task': {
      const child = running.get(request.id);
      if (child !== undefined) sendPart(child, request.part);
      return;
    }
    case 'kill':
      running.get(request.id)?.kill('SIGKILL');
  }
});
