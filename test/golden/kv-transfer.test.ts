// Prefill in one process, decode in another: the tokens and the log probabilities, to the last bit, of the engine that computed
// the prompt and would have answered it. And what becomes of a fetch whose other side is gone.

import { afterEach, expect, jest, test } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { EngineTransfer } from '../../runtime/src/engine/engine-transfer.js';
import { ucxDefaults } from '../../runtime/src/engine/ucx-variables.js';
import { freePort } from '../processes.js';
import { wide } from './breadth.js';
import { room, type Generated } from './engine-driver.js';
import {
  answer,
  blocksOf,
  loadWithTransfer,
  moved,
  ticket,
  type Alike,
  type Loaded,
} from './transfer-jobs.js';
import type { PeerStart } from './transfer-peer.js';

jest.setTimeout(180_000);

const blocks = blocksOf(40, moved / room.blockSize).reverse();
const snapshot = 1;
Object.assign(process.env, ucxDefaults);

const loaded: Loaded[] = [];
const peers: ChildProcess[] = [];
afterEach(async () => {
  peers.splice(0).forEach((peer) => peer.kill('SIGKILL'));
  await Promise.all(loaded.splice(0).map((each) => each.dispose()));
});

async function startPeer(alike: Alike): Promise<{
  peer: ChildProcess;
  port: number;
  whole: Generated;
  layout: string;
}> {
  const port = await freePort();
  const peer = fork(fileURLToPath(new URL('transfer-peer.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  peers.push(peer);
  peer.send({ alike, port } satisfies PeerStart);
  const [{ answer: whole, layout }] = (await once(peer, 'message')) as [
    { answer: Generated; layout: string },
  ];
  return { peer, port, whole, layout };
}

async function load(alike: Alike): Promise<Loaded & { transfer: EngineTransfer }> {
  const each = await loadWithTransfer(alike, null);
  loaded.push(each);
  return { ...each, transfer: new EngineTransfer(each.engine) };
}

const ofEachKind = [
  ['llama-bf16-ranks', 1, 'fp8'],
  ['qwen3_5-bf16-ranks', 2, 'auto'],
] as const;
const others = [
  ['llama-bf16-ranks', 1, 'auto'],
  ['llama-bf16-ranks', 2, 'fp8'],
  ['qwen3_5-bf16-ranks', 1, 'fp8'],
] as const;

test.each([...ofEachKind, ...(wide ? others : [])])(
  '%s on %i ranks with KV %s answers what another computed',
  async (model, ranks, kvCacheDtype) => {
    const alike = { model, ranks, kvCacheDtype };
    const { port, whole, layout } = await startPeer(alike);
    const { engine, transfer } = await load(alike);
    expect(transfer.layout).toBe(layout);

    const { hybrid, kvBytesPerBlock, stateBytesPerSeq } = engine.info;
    const fetched = await transfer.fetch(
      { host: '127.0.0.1', port, ticket },
      blocks,
      hybrid ? snapshot : null,
    );
    const bytes = blocks.length * kvBytesPerBlock + stateBytesPerSeq;
    expect(fetched).toEqual({ bytes: bytes * ranks, snapshotAt: hybrid ? moved : null });
    expect(await answer(engine, model, { cached: blocks, own: 60, snapshot })).toEqual(whole);
    expect(whole.tokens).toHaveLength(12);
  },
);

test('a fetch fails by reason where the offer is withdrawn, the layout differs or the peer dies', async () => {
  const alike = { model: 'llama-bf16-ranks', ranks: 1, kvCacheDtype: 'auto' } as const;
  const { peer, port, whole } = await startPeer(alike);
  const from = { host: '127.0.0.1', port, ticket };
  const { engine, transfer } = await load(alike);
  const other = await load({ ...alike, kvCacheDtype: 'fp8' });

  await expect(other.transfer.fetch(from, blocks, null)).rejects.toMatchObject({ reason: 'layoutDiffers' });
  await transfer.fetch(from, blocks, null);
  expect(await answer(engine, alike.model, { cached: blocks, own: 60, snapshot })).toEqual(whole);

  peer.send('withdraw');
  await once(peer, 'message');
  await expect(transfer.fetch(from, blocks, null)).rejects.toMatchObject({ reason: 'unknownTicket' });

  // It is stopped, so that the fetch is under way when it is killed, or when the caller goes.
  peer.kill('SIGSTOP');
  const going = new AbortController();
  const cancelled = transfer.fetch(from, blocks, null, going.signal);
  going.abort();
  await expect(cancelled).rejects.toMatchObject({ reason: 'cancelled' });
  const lost = transfer.fetch(from, blocks, null);
  peer.kill('SIGKILL');
  await expect(lost).rejects.toMatchObject({ reason: 'unreachable' });
  await expect(transfer.fetch(from, blocks, null)).rejects.toMatchObject({ reason: 'unreachable' });
  // The engine serves on: it computes the prompt itself.
  expect(await answer(engine, alike.model, { cached: [], own: 40, snapshot })).toEqual(whole);
});
