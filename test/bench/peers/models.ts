// Random models of one architecture, in the formats of both sides: ours in FP8 and BF16 as llmservice_bench writes them, and GGUF
// files of the BF16 one for llama.cpp. A folder of them takes 5 GB of disk at most.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../processes.js';
import { wordTokenizer } from './word-tokenizer.js';

/** What one of `shape_of` in native/bench/model_shape.cpp has. */
const vocabulary = 151_936;

export interface Programs {
  /** Our llmservice_bench. */
  readonly ours: string;
  /** The folder of llama.cpp's programs. */
  readonly theirs: string;
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** Builds what is not built yet; `options`: a name for the build of llama.cpp, and options of its CMake. */
export function buildPrograms(...options: string[]): Programs {
  run('test/bench/run.sh', 'build');
  return {
    ours: join(repository, '.build/native-bench/llmservice_bench'),
    theirs: join(repository, run('test/bench/peers/build-llama-cpp.sh', ...options)),
  };
}

export class PeerModels {
  readonly #folder = mkdtempSync(join(repository, '.build/peers-'));

  constructor(
    private readonly programs: Programs,
    readonly architecture: string,
  ) {}

  /** Folder of a checkpoint for our engine. */
  checkpoint(format: 'BF16' | 'FP8'): string {
    const folder = join(this.#folder, format);
    if (existsSync(folder)) return folder;
    mkdirSync(folder);
    run(this.programs.ours, 'write', folder, this.architecture, format);
    // For servers: prompts are ids, but answers are text.
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(wordTokenizer(vocabulary)));
    return folder;
  }

  /** A GGUF file; q4_k_m lies in a folder of its own with what our engine needs to load it. */
  gguf(kind: 'bf16' | 'q8_0' | 'q4_k_m'): string {
    const folder = join(this.#folder, kind);
    const file = join(folder, 'model.gguf');
    if (existsSync(file)) return file;
    mkdirSync(folder);
    if (kind === 'q4_k_m') {
      run(join(this.programs.theirs, 'llama-quantize'), this.gguf('bf16'), file, 'Q4_K_M');
      run('npx', 'tsx', 'test/bench/describe-checkpoint.ts', folder);
    } else {
      const python = join(repository, '.build/llama-cpp/venv/bin/python');
      run(python, 'test/bench/peers/write_gguf.py', this.checkpoint('BF16'), file, kind);
    }
    return file;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
