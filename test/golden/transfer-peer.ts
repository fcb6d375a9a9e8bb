// A process with an engine that computes a prompt and offers its KV, for the process that forked it: says what the answer is,
// and withdraws the offer when it is asked to.

import { EngineTransfer } from '../../runtime/src/engine/engine-transfer.js';
import { answer, blocksOf, loadWithTransfer, moved, ticket, type Alike } from './transfer-jobs.js';
import { room } from './engine-driver.js';

const snapshot = 3;
const first = 20;

export interface PeerStart {
  readonly alike: Alike;
  readonly port: number;
}

process.once('message', ({ alike, port }: PeerStart) => {
  void (async () => {
    const { engine } = await loadWithTransfer(alike, port);
    const whole = await answer(engine, alike.model, { cached: [], own: first, snapshot });
    const transfer = new EngineTransfer(engine);
    await transfer.offer(
      ticket,
      blocksOf(first, moved / room.blockSize),
      engine.info.hybrid ? snapshot : null,
    );
    process.send?.({ answer: whole, layout: transfer.layout });
    process.on('message', () => {
      void transfer.withdraw(ticket).then(() => process.send?.('withdrawn'));
    });
  })();
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
