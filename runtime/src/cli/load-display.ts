// Load progress for a person: one line that is rewritten on a terminal, elsewhere a line for each tenth.

import { formatGiB } from '@llmservice/crds';
import type { HealthBody } from '../http/replica/lifecycle.js';
import type { Bytes } from '../weights/progress-meter.js';

const barWidth = 24;

/** One state as one line. */
export function describeLoad({ state, load, failure }: HealthBody): string {
  if (failure !== null) return `${state}: ${failure.reason}: ${failure.message}`;
  if (load === null || load.bytesTotal === 0) return state === 'pulling' ? 'reading the checkpoint' : state;
  if (load.phase === 'warmup' && load.warmup !== null)
    return `warming up ${String(load.warmup.done)}/${String(load.warmup.total)}`;
  const share = load.bytesDone / load.bytesTotal;
  const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
  const rate = load.bytesPerSecond === 0 ? '' : ` ${formatGiB(load.bytesPerSecond)}/s`;
  const eta = load.etaSeconds === null ? '' : `, ${String(load.etaSeconds)} s left`;
  const name = load.phase === 'pull' ? 'pulling' : 'loading';
  const done = `${name} [${bar}] ${percent(load)} of ${formatGiB(load.bytesTotal)}${rate}${eta}`;
  // During the pull, the engine loads what is there.
  return load.phase === 'load' || load.loaded === null ? done : `${done}; loaded ${percent(load.loaded)}`;
}

function percent({ bytesDone, bytesTotal }: Bytes): string {
  return `${String(bytesTotal === 0 ? 0 : Math.floor((100 * bytesDone) / bytesTotal))} %`;
}

/** What changes where a line is due that stays: the state, its phase and each tenth of this. */
function tenthOf(body: HealthBody): string {
  const { state, load, failure } = body;
  if (failure !== null || load === null || load.bytesTotal === 0) return describeLoad(body);
  const { phase, warmup } = load;
  const [done, total] =
    phase === 'warmup' && warmup !== null ? [warmup.done, warmup.total] : [load.bytesDone, load.bytesTotal];
  return `${state} ${phase} ${String(Math.floor((10 * done) / total))}`;
}

/** Shows what `health` says until `stop` is called. */
export class LoadDisplay {
  private readonly timer: NodeJS.Timeout;
  private last = '';

  constructor(
    private readonly health: () => HealthBody,
    private readonly out: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>,
    onServing: () => void,
  ) {
    this.timer = setInterval(
      () => {
        const body = this.health();
        if (body.state === 'serving') {
          this.stop();
          onServing();
        } else {
          this.show(body);
        }
      },
      out.isTTY ? 100 : 1_000,
    );
  }

  stop(): void {
    clearInterval(this.timer);
    if (this.out.isTTY && this.last !== '') this.out.write('\r\x1b[K');
    this.last = '';
  }

  private show(body: HealthBody): void {
    const line = describeLoad(body);
    const shown = this.out.isTTY ? line : tenthOf(body);
    if (shown === this.last) return;
    this.last = shown;
    this.out.write(this.out.isTTY ? `\r\x1b[K${line.slice(0, (this.out.columns || 80) - 1)}` : `${line}\n`);
  }
}
