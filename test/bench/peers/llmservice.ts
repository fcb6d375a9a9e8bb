// Our engine, by llmservice_bench: each round loads the model anew, so that it can take turns with others.

import { execFileSync } from 'node:child_process';
import { batches, prompts, type Contender, type Figures } from './figures.js';

/** A line of `llmservice_bench measure`. */
interface Line {
  readonly sequences: number;
  readonly prompt: number;
  readonly prefill: number;
  readonly decode: number;
  readonly bandwidth: number;
  readonly ofBandwidth: number;
  readonly ofPeak: number;
  readonly loadSeconds: number;
  readonly weightBytes: number;
  readonly kvBytes: number;
  /** What loading and one round added. */
  readonly residentBytes: number;
}

const loads = [
  ...prompts.map((tokens) => `1:${tokens}`),
  ...batches.filter((one) => one > 1).map((many) => `${many}:64`),
];

export class LlmService implements Contender {
  readonly name = 'llmservice';
  /** Of all rounds, as they came. */
  readonly lines: Line[] = [];

  /** `folder` holds a model of that architecture and its description.json; `isa`: the instruction family, or `auto`. */
  constructor(
    private readonly program: string,
    private readonly folder: string,
    private readonly architecture: string,
    readonly format: string,
    private readonly isa: string,
  ) {}

  /** One line of each of these loads, such as 4:64 for 4 sequences with a prompt of 64 tokens. */
  linesOf(loads: readonly string[]): readonly Line[] {
    const output = execFileSync(
      this.program,
      ['measure', this.folder, this.architecture, this.isa, ...loads],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    return output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }

  measure(): Figures {
    const lines = this.linesOf(loads);
    this.lines.push(...lines);
    const of = (sequences: number, prompt: number): Line =>
      lines.find((line) => line.sequences === sequences && line.prompt === prompt)!;
    return Object.fromEntries([
      ...prompts.map((tokens) => [`prefill ${tokens}`, of(1, tokens).prefill]),
      ...batches.map((many) => [`decode ${many}`, of(many, many === 1 ? 512 : 64).decode]),
    ]) as Figures;
  }
}
