// `kubectl llm chat`: a conversation with a service's model in the terminal, through the API server, so that neither a
// gateway nor a forwarded port is needed. Ctrl-C ends an answer, and the program only where there is none.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { parseFlags, UsageError } from '../command-line.js';
import { ClusterError, clusterFlags, connect, type Connection } from '../kube/connect.js';
import type { Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';
import { ChatSession } from './chat-session.js';
import { styles, type Terminal } from './command.js';
import { connectPod } from './pod-connection.js';
import { isWorker } from '../kube/group-pods.js';
import { podsOf } from './service-pods.js';
import { find } from './status.js';
import { progress } from './status-text.js';

const usage = `usage: kubectl llm chat NAME [options]

Talks with the model of a service, through the API server. Without --prompt it reads questions from the terminal, or one
from a pipe. Ctrl-C ends an answer, Ctrl-D the conversation.

      --prompt TEXT      ask this alone
      --system TEXT      the system message of the conversation
      --max-tokens N     of an answer
      --key-file FILE    with an API key; else the variable LLMSERVICE_API_KEY
      --pod NAME         ask this pod
  -n, --namespace NAME   (that of the context)
      --context NAME, --kubeconfig FILE, --as USER
`;

const flags = {
  ...clusterFlags,
  prompt: { type: 'string' },
  system: { type: 'string' },
  'max-tokens': { type: 'string' },
  'key-file': { type: 'string' },
  pod: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function chat(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) {
    terminal.stdout.write(usage);
    return 0;
  }
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('name one service');
  const maxTokens = values['max-tokens'] === undefined ? null : Number(values['max-tokens']);
  if (maxTokens !== null && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    throw new UsageError('--max-tokens must be a whole number above zero');
  }
  const key = readKey(values['key-file']);
  const connection = connect(values);
  const service = await find(connection, name);
  const pod = choosePod(await podsOf(connection, name), values.pod);
  if (pod === undefined) throw new ClusterError(`${name} has no pod that answers. ${progress(service)}`);
  const session = new ChatSession({
    model: service.status?.model ?? name,
    system: values.system ?? null,
    key,
    maxTokens,
    open: () => connectPod(connection, pod),
  });
  const prompt = values.prompt ?? (terminal.stdin.isTTY ? null : (await text(terminal.stdin)).trim());
  if (prompt === '') throw new UsageError('there is nothing to ask: --prompt and standard input are empty');
  return prompt === null ? converse(session, terminal, connection, pod) : askOnce(session, prompt, terminal);
}

/** @throws UsageError */
function readKey(file: string | undefined): string | null {
  if (file === undefined) return process.env['LLMSERVICE_API_KEY'] ?? null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--key-file: ${(error as Error).message}`, { cause: error });
  }
}

function choosePod(pods: readonly Pod[], wanted: string | undefined): Pod | undefined {
  const answers = (pod: Pod): boolean => isReady(pod) && !isWorker(pod);
  return pods.find((pod) => (wanted === undefined ? answers(pod) : pod.metadata.name === wanted));
}

async function askOnce(session: ChatSession, prompt: string, terminal: Terminal): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  await answer(session, prompt, stop.signal, terminal);
  // As a shell reports an interrupted program.
  return stop.signal.aborted ? 130 : 0;
}

async function converse(
  session: ChatSession,
  terminal: Terminal,
  { namespace }: Connection,
  { metadata }: Pod,
): Promise<number> {
  const { stdin, stdout, stderr } = terminal;
  stderr.write(
    `${styles.dim(`${namespace}/${metadata.name}; Ctrl-C ends an answer, Ctrl-D the conversation`, stderr)}\n`,
  );
  const lines = createInterface({ input: stdin, output: stdout, prompt: '> ' });
  let answering: AbortController | null = null;
  lines.on('SIGINT', () => {
    if (answering === null) lines.close();
    else answering.abort();
  });
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== '') {
      answering = new AbortController();
      try {
        await answer(session, line, answering.signal, terminal);
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error;
        stderr.write(`${styles.red(error.message, stderr)}\n`);
      }
      answering = null;
    }
    lines.prompt();
  }
  stdout.write('\n');
  return 0;
}

/** Writes the answer as it comes; thoughts only where a person looks, and dimmed. */
async function answer(
  session: ChatSession,
  content: string,
  signal: AbortSignal,
  { stdout, stderr }: Terminal,
): Promise<void> {
  const startedAt = performance.now();
  let notes: string[] = [];
  let thought = false;
  try {
    for await (const event of session.say(content, signal)) {
      if (event.kind === 'thought' && stdout.isTTY) {
        stdout.write(styles.dim(event.text, stdout));
        thought = true;
      } else if (event.kind === 'text') {
        stdout.write(thought ? `\n${event.text}` : event.text);
        thought = false;
      } else if (event.kind === 'error') {
        throw new ClusterError(event.message);
      } else if (event.kind === 'usage') {
        const seconds = (performance.now() - startedAt) / 1_000;
        notes = [...notes, `${event.tokens} tokens in ${seconds.toFixed(1)} s`];
      } else if (event.kind === 'end' && event.reason === 'length') {
        notes = [...notes, 'cut off at the most tokens'];
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    notes = [...notes, 'stopped'];
  } finally {
    stdout.write('\n');
  }
  if (stderr.isTTY && notes.length > 0) stderr.write(`${styles.dim(`(${notes.join('; ')})`, stderr)}\n`);
}
