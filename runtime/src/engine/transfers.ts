// What an engine process does for other engines, or has them do for it: joined from its parts, once it is loaded.

import { askPrefill, endTicket } from '../disaggregation/ask-prefill.js';
import { Offers } from '../disaggregation/offers.js';
import { PodAddresses } from '../disaggregation/pod-addresses.js';
import { PrefillPods } from '../disaggregation/prefill-pods.js';
import { RemotePrefill } from '../disaggregation/remote-prefill.js';
import { TransferCounts } from '../disaggregation/transfer-counts.js';
import type { KvTransfer } from '../schedule/kv-transfer.js';
import type { Scheduler } from '../schedule/scheduler.js';
import type { EngineSettings } from './protocol.js';
import type { StepLoop } from './step-loop.js';

export interface Transfers {
  readonly counts: TransferCounts;
  /** Null: it is no prefill pod. */
  readonly offers: Offers | null;
  /** Null: it is no decode pod. */
  readonly remote: RemotePrefill | null;
}

interface Parts {
  readonly settings: Pick<EngineSettings, 'disaggregation' | 'blockSize'>;
  /** Null: the engine moves no KV. */
  readonly transfer: KvTransfer | null;
  readonly scheduler: Scheduler;
  readonly loop: () => Pick<StepLoop, 'settled' | 'look'> | null;
  readonly now: () => number;
}

export function makeTransfers({ settings, transfer, scheduler, loop, now }: Parts): Transfers {
  const counts = new TransferCounts();
  const { disaggregation, blockSize } = settings;
  if (disaggregation === null || transfer === null) return { counts, offers: null, remote: null };
  const { prompts } = scheduler;
  const released = (): void => loop()?.look();
  if (disaggregation.role === 'prefill') {
    const offers = new Offers({ prompts, transfer, counts, now, released });
    return { counts, offers, remote: null };
  }
  const { hosts, port, minTokens } = disaggregation;
  const addresses = new PodAddresses(hosts);
  // Nothing waits for a name server, not even the first prompt.
  void addresses.start();
  const remote = new RemotePrefill({
    ...{ prompts, transfer, counts, port, minTokens, blockSize, released, now },
    pods: new PrefillPods(() => addresses.all, now),
    ask: askPrefill,
    endTicket,
    settled: async () => loop()?.settled(),
  });
  return { counts, offers: null, remote };
}
