// The calls of one answer as what is reported of them: a delta of the name, then deltas of the arguments.

import type { CallSink, ToolCallDelta } from './tool.js';

export class CallDeltas implements CallSink {
  private deltas: ToolCallDelta[] = [];
  /** Calls so far. */
  count = 0;

  constructor(private readonly newCallId: () => string) {}

  begin(name: string): void {
    this.deltas.push({ index: this.count, start: { id: this.newCallId(), name }, arguments: '' });
    this.count += 1;
  }

  arguments(fragment: string): void {
    const index = this.count - 1;
    const last = this.deltas.at(-1);
    if (last?.index === index && last.start === null)
      this.deltas[this.deltas.length - 1] = { ...last, arguments: last.arguments + fragment };
    else this.deltas.push({ index, start: null, arguments: fragment });
  }

  /** What came since the last time. */
  take(): readonly ToolCallDelta[] {
    const { deltas } = this;
    this.deltas = [];
    return deltas;
  }
}
