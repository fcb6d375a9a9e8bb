import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ClusterError } from '../kube/connect.js';
import type { ChatEvent } from './chat-events.js';
import { ChatSession, type ChatSettings } from './chat-session.js';

interface Asked {
  readonly key: string | undefined;
  readonly body: { readonly messages: readonly { readonly role: string; readonly content: string }[] };
}

let server: Server;
let asked: Asked[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  asked = [];
  server = createServer((request: IncomingMessage, response) => {
    void json(request).then((body) => {
      asked.push({ key: request.headers.authorization, body: body as Asked['body'] });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function session(change: Partial<ChatSettings> = {}): ChatSession {
  const { port } = server.address() as AddressInfo;
  const open = () => Promise.resolve(connect(port, '127.0.0.1'));
  return new ChatSession({ model: 'demo', system: null, key: null, maxTokens: null, open, ...change });
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`;

async function say(to: ChatSession, content: string): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of to.say(content, new AbortController().signal)) events.push(event);
  return events;
}

test('an answer comes in its parts, cut anywhere, and stays in the conversation', async () => {
  const body = [
    ': still working\n\n',
    chunk({ reasoning: 'Hm.' }),
    chunk({ content: 'Grüße' }),
    chunk({ content: '!' }, 'stop'),
    `data: ${JSON.stringify({ choices: [], usage: { completion_tokens: 3 } })}\n\n`,
    'data: [DONE]\n\n',
  ].join('');
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(body);
    let at = 0;
    const next = (): void => {
      if (at >= bytes.length) return void response.end();
      response.write(bytes.subarray(at, (at += 7)));
      setImmediate(next);
    };
    next();
  };
  const talk = session({ system: 'Be brief.', key: 'sk-1' });
  expect(await say(talk, 'Hello')).toEqual([
    { kind: 'thought', text: 'Hm.' },
    { kind: 'text', text: 'Grüße' },
    { kind: 'text', text: '!' },
    { kind: 'end', reason: 'stop' },
    { kind: 'usage', tokens: 3 },
  ]);
  await say(talk, 'Again');
  expect(asked.map(({ key }) => key)).toEqual(['Bearer sk-1', 'Bearer sk-1']);
  expect(asked[1]?.body.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Grüße!' },
    { role: 'user', content: 'Again' },
  ]);
});

test('a refusal is reported with its remedy, and what was asked is as if it had not been', async () => {
  answer = (response) => response.writeHead(401).end(JSON.stringify({ error: { message: 'no key' } }));
  const talk = session();
  await expect(say(talk, 'Hello')).rejects.toThrow('HTTP 401: no key Give a key with --key-file');
  answer = (response) => response.writeHead(200).end(chunk({ content: 'yes' }, 'stop'));
  await say(talk, 'Again');
  expect(asked[1]?.body.messages).toEqual([{ role: 'user', content: 'Again' }]);
});

test('an error in mid-stream is an event', async () => {
  answer = (response) =>
    response.writeHead(200).end(`${chunk({ content: 'a' })}data: {"error":{"message":"engine lost"}}\n\n`);
  expect(await say(session(), 'Hello')).toEqual([
    { kind: 'text', text: 'a' },
    { kind: 'error', message: 'engine lost' },
  ]);
});

test('a server that dies in the midst of an answer is reported, and the conversation continues', async () => {
  let die: () => void = () => undefined;
  answer = (response) => {
    response.writeHead(200).write(chunk({ content: 'Once' }));
    die = () => response.destroy();
  };
  const talk = session();
  const story = talk.say('A story', new AbortController().signal);
  expect((await story.next()).value).toEqual({ kind: 'text', text: 'Once' });
  die();
  await expect(story.next()).rejects.toThrow(ClusterError);
  answer = (response) => response.writeHead(200).end('data: not JSON\n\n');
  await expect(say(talk, 'Continue')).rejects.toThrow(/^the answer broke off: /);
  answer = (response) => response.writeHead(200).end(chunk({ content: 'yes' }, 'stop'));
  await say(talk, 'Again');
  expect(asked[2]?.body.messages.map(({ content }) => content)).toEqual(['A story', 'Once', 'Again']);
});

test('a stop closes the connection and keeps what was said until then', async () => {
  let closed = false;
  answer = (response) => {
    response.on('close', () => (closed = true));
    response.writeHead(200).write(chunk({ content: 'Once upon' }));
  };
  const talk = session();
  const stop = new AbortController();
  const read = async (): Promise<void> => {
    for await (const event of talk.say('A story', stop.signal)) {
      expect(event).toEqual({ kind: 'text', text: 'Once upon' });
      stop.abort();
    }
  };
  await expect(read()).rejects.toThrow('abort');
  answer = (response) => response.writeHead(200).end(chunk({ content: 'a time' }, 'stop'));
  await say(talk, 'Continue');
  expect(closed).toBe(true);
  expect(asked[1]?.body.messages).toContainEqual({ role: 'assistant', content: 'Once upon' });
});
