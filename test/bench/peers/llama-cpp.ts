// llama.cpp, by its own benchmarks: llama-bench for prompts, llama-batched-bench for sequences that decode together.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { batches, prompts, type Contender, type Figures } from './figures.js';

const decoded = 16;

export class LlamaCpp implements Contender {
  readonly name = 'llama.cpp';

  /** `programs`: the folder of build-llama-cpp.sh; `file`: a GGUF. */
  constructor(
    private readonly programs: string,
    private readonly file: string,
    readonly format: string,
    private readonly threads: number,
  ) {}

  measure(): Figures {
    const prefill = this.run('llama-bench', ['-p', prompts.join(), '-n', '0', '-r', '1', '-o', 'json']);
    const tests = JSON.parse(prefill) as readonly { readonly n_prompt: number; readonly avg_ts: number }[];
    return Object.fromEntries([
      ...tests.map((one) => [`prefill ${one.n_prompt}`, one.avg_ts]),
      ...this.decodes(512, [1]),
      ...this.decodes(
        64,
        batches.filter((one) => one > 1),
      ),
    ]) as Figures;
  }

  /** Tokens a second of a prompt of so many tokens, and of a sequence after it. */
  one(prompt: number): { readonly prefill: number; readonly decode: number } {
    const output = this.run('llama-batched-bench', [
      ...['-c', String(prompt + decoded), '-npp', String(prompt), '-ntg', String(decoded), '-npl', '1'],
      ...['--output-format', 'jsonl'],
    ]);
    const line = output.split('\n').find((one) => one.startsWith('{'))!;
    const { speed_pp, speed_tg } = JSON.parse(line) as {
      readonly speed_pp: number;
      readonly speed_tg: number;
    };
    return { prefill: speed_pp, decode: speed_tg };
  }

  private decodes(prompt: number, sequences: readonly number[]): readonly (readonly [string, number])[] {
    const context = Math.max(...sequences) * (prompt + decoded);
    const output = this.run('llama-batched-bench', [
      ...['-c', String(context), '-npp', String(prompt), '-ntg', String(decoded), '-npl', sequences.join()],
      ...['--output-format', 'jsonl'],
    ]);
    return output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { readonly pl: number; readonly speed_tg: number })
      .map(({ pl, speed_tg }) => [`decode ${pl}`, speed_tg]);
  }

  private run(program: string, args: readonly string[]): string {
    return execFileSync(
      join(this.programs, program),
      ['-m', this.file, '-t', String(this.threads), ...args],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
  }
}
