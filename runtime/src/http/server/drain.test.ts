// What a drain waits for: answers that clients still read, and nothing that only keeps a connection.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import express from 'express';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { HttpServer } from './http-server.js';

/** More than the kernel's buffers take. */
const largeBytes = 64 * 2 ** 20;

let scripted: ScriptedServer;
let http: HttpServer;
let port: number;
const info = jest.fn();
beforeEach(async () => {
  info.mockClear();
  scripted = await ScriptedServer.start();
  scripted.parts.logger.info = info as never;
  const app = express();
  app.get('/large', (_, response) => void response.send(Buffer.alloc(largeBytes)));
  app.post('/small', (request, response) => void request.resume().once('end', () => response.send('small')));
  app.use((_, response) => void response.send('small'));
  http = new HttpServer(app, scripted.parts);
  port = await http.listen('127.0.0.1', 0);
});
afterEach(async () => {
  await http.close();
  await scripted.stop();
});

/** Resolves when its answer begins to come. */
async function ask(text: string): Promise<{ socket: Socket; received: () => number }> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
  socket.write(text);
  await once(socket, 'data');
  return { socket, received: () => bytes };
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** @returns how many milliseconds it took, and how many answers it says that it cut */
async function drain(timeoutMs: number): Promise<{ tookMs: number; cut: unknown }> {
  const startedAt = performance.now();
  await http.drain(timeoutMs);
  const tookMs = performance.now() - startedAt;
  const [, fields] = info.mock.calls.find(([message]) => message === 'drained') ?? [];
  return { tookMs, cut: (fields as { cut: unknown }).cut };
}

test('an answer that is read slowly comes whole', async () => {
  const { socket, received } = await ask(get('/large'));
  socket.pause();
  const closed = once(socket, 'close');
  const ended = drain(50_000).then(async (drained) => {
    await http.close();
    return drained;
  });
  // Longer than connections are left to end by themselves.
  await sleep(2_500);
  socket.resume();
  expect(await ended).toMatchObject({ cut: 0 });
  await closed;
  expect(received()).toBeGreaterThan(largeBytes);
});

test('an answer that nobody reads is cut at the end of the time, and counted', async () => {
  const { socket } = await ask(get('/large'));
  socket.pause();
  const { tookMs, cut } = await drain(300);
  expect(tookMs).toBeGreaterThanOrEqual(300);
  expect(cut).toBe(1);
  await http.close();
  socket.destroy();
});

test('answers that waited behind another on a connection that is gone are not waited for', async () => {
  const { socket } = await ask(get('/large') + get('/small') + get('/small'));
  socket.destroy();
  const { tookMs, cut } = await drain(50_000);
  expect(tookMs).toBeLessThan(40_000);
  expect(cut).toBe(0);
});

test('an idle connection, half a request and probes are not waited for', async () => {
  const { socket: idle } = await ask(get('/small'));
  const half = connect(port, '127.0.0.1').on('error', () => undefined);
  half.write('POST /small HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\nhalf');
  await once(half, 'data');
  const ended = new AbortController();
  const probes = (async () => {
    while (!ended.signal.aborted) await fetch(`http://127.0.0.1:${String(port)}/health`);
  })();
  const { tookMs, cut } = await drain(50_000);
  ended.abort();
  await probes;
  expect(tookMs).toBeLessThan(40_000);
  expect(cut).toBe(0);
  [idle, half].forEach((socket) => socket.destroy());
});
