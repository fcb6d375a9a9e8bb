// Whether the tokens of an answer end with one pattern again and again, as vLLM's repetition_detection has it. One
// instance per answer.

/** Which repetitions end an answer: patterns of `minSize` to `maxSize` tokens, `minCount` times in a row. */
export interface RepetitionRule {
  readonly minSize: number;
  readonly maxSize: number;
  readonly minCount: number;
}

export class RepetitionDetector {
  private readonly rule: RepetitionRule;
  /** The last tokens, as many as the longest pattern has, in a ring. */
  private readonly recent: Int32Array;
  /** By size of a pattern: how many of the last tokens are each the one that stands so far before it. */
  private readonly runs: Int32Array;
  private count = 0;

  constructor(rule: RepetitionRule) {
    this.rule = rule;
    this.recent = new Int32Array(rule.maxSize);
    this.runs = new Int32Array(rule.maxSize + 1);
  }

  /** Takes the next token: whether a repetition ends with it. */
  push(id: number): boolean {
    const { minSize, maxSize, minCount } = this.rule;
    const place = this.count % maxSize;
    const longest = Math.min(maxSize, this.count);
    let repeats = false;
    for (let size = minSize; size <= longest; size++) {
      const before = this.recent[(place - size + maxSize) % maxSize];
      const run = before === id ? (this.runs[size] ?? 0) + 1 : 0;
      this.runs[size] = run;
      repeats ||= run >= size * (minCount - 1);
    }
    this.recent[place] = id;
    this.count += 1;
    return repeats;
  }
}
