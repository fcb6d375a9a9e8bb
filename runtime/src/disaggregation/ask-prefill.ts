// Asks one prefill pod for one prompt. A pod that nobody answers for is given up after `connectMs`, one that falls silent
// after `silentMs`: it sends an empty line every second while it computes.

import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { askText, prefillPath, readAnswer, type PrefillAnswer, type PrefillAsk } from './prefill-ask.js';
import { PrefillFailed } from './prefill-failed.js';

export interface AskLimits {
  readonly connectMs: number;
  readonly silentMs: number;
}

export const askLimits: AskLimits = { connectMs: 1_000, silentMs: 3_000 };

/** Of an answer. */
const maxBytes = 65_536;

export interface PodPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * Leaving by the signal has the pod forget the prompt.
 * @throws PrefillFailed
 */
export async function askPrefill(
  pod: PodPlace,
  ask: PrefillAsk,
  signal: AbortSignal,
  limits = askLimits,
): Promise<PrefillAnswer> {
  const { status, text } = await exchange(pod, 'POST', prefillPath, askText(ask), signal, limits);
  const line = text.trim();
  const answer = status === 200 ? readAnswer(line) : null;
  if (answer === null) throw refusal(pod, status, line);
  return answer;
}

/** Nothing is read under this ticket any more. Nobody waits for it: a ticket ends by itself, too. */
export async function endTicket(pod: PodPlace, ticket: string, limits = askLimits): Promise<void> {
  const path = `${prefillPath}/${encodeURIComponent(ticket)}`;
  await exchange(pod, 'DELETE', path, '', null, limits).catch(() => undefined);
}

interface Exchanged {
  readonly status: number;
  readonly text: string;
}

function exchange(
  { host, port }: PodPlace,
  method: string,
  path: string,
  body: string,
  signal: AbortSignal | null,
  { connectMs, silentMs }: AskLimits,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const headers =
      body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    // A connection of its own: one that was kept may be gone, which would look as if the pod were.
    const options = { host, port, method, path, headers, agent: false } as const;
    const request: ClientRequest = httpRequest(signal === null ? options : { ...options, signal });
    const place = `the prefill pod ${host}:${String(port)}`;
    const fail = (reason: 'unreachable' | 'timedOut' | 'badAnswer', message: string): void => {
      reject(new PrefillFailed(reason, `${place} ${message}`));
      request.destroy();
    };
    // A limit of the request itself begins once it is connected: an address of which nothing comes back would hold the prompt
    // for minutes.
    const connecting = setTimeout(
      () => fail('unreachable', `was silent for ${String(connectMs)} ms`),
      connectMs,
    );
    request.once('close', () => clearTimeout(connecting));
    request.once('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)));
    request.setTimeout(silentMs, () => fail('timedOut', `was silent for ${String(silentMs)} ms`));
    request.once('error', ({ message }) => fail('unreachable', `cannot be asked: ${message}`));
    request.once('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part.trim() === '' ? '' : part;
        if (text.length > maxBytes) fail('badAnswer', `answers with more than ${String(maxBytes)} bytes`);
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('close', () => {
        if (!response.complete) fail('unreachable', 'ended the connection in the midst of its answer');
      });
    });
    request.end(body);
  });
}

/** Codes with which a pod says that it takes no more now. */
const busy = ['queue_full', 'draining', 'model_not_ready', 'server_busy', 'QueueTimeout'];

/** What an error body, or the last line of an answer that had begun, says. */
function refusal({ host, port }: PodPlace, status: number, text: string): PrefillFailed {
  const place = `the prefill pod ${host}:${String(port)}`;
  const { code, message, param } = errorIn(text);
  if (typeof code !== 'string') {
    const said = `${place} answers ${String(status)}: ${text.slice(0, 200)}`;
    return new PrefillFailed('badAnswer', said);
  }
  const said = `${place} refuses: ${code}: ${String(message)}`;
  if (param === 'layout') return new PrefillFailed('layoutDiffers', said);
  return new PrefillFailed(busy.includes(code) ? 'busy' : 'refused', said);
}

/** Of OpenAI's error body; of what is none, nothing. */
function errorIn(text: string): {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly param?: unknown;
} {
  try {
    return (JSON.parse(text) as { error?: object } | null)?.error ?? {};
  } catch {
    return {};
  }
}
