// Why vLLM ended, from the lines of its log: it has no reasons of its own, and the line that names the cause stands far
// above the last ones. Lines as vLLM 0.32 writes them (v1/core/kv_cache_utils.py, v1/worker, config/model.py,
// model_executor/models/registry.py, entrypoints/launchers).

import type { Failure } from '@llmservice/crds';

interface Sign {
  readonly line: RegExp;
  readonly read: (text: string, match: RegExpMatchArray) => Failure;
}

const maxCharacters = 600;
/** No line that names a cause is longer; the time that a sign takes grows with the square of a line's length. */
const maxOfLine = 2_000;

/** The first that is found counts: what comes later in a log follows from it. */
const signs: readonly Sign[] = [
  {
    line: /max seq len \((\d{1,9})\).*?estimated maximum model length is (\d{1,9})\b/,
    read: (_, [, asked, fits]) => ({
      reason: 'KvCacheTooSmall',
      message: `vLLM has no room for the KV cache of ${asked} tokens; the longest that fits is ${fits}`,
      detail: { fits: Number(fits) },
    }),
  },
  { line: /No available memory for the cache blocks|max seq len \(\d+\)/, read: as('ModelTooLarge') },
  {
    line: /less than desired (?:GPU|CPU) memory utilization|budget after excluding external/,
    read: as('DeviceMemoryTaken'),
  },
  {
    line: /(?:CUDA|HIP) out of memory|OutOfMemoryError|hipErrorOutOfMemory|can't allocate memory/,
    read: as('DeviceOutOfMemory'),
  },
  {
    line: /Model architectures? .*?(?:not supported|failed to be inspected|was supported)/,
    read: as('UnsupportedByEngine', 'Supported architectures:'),
  },
  { line: /has model type .* does not recognize this architecture/, read: as('UnsupportedByEngine') },
  {
    line: /quantization method.* (?:is|are) not supported|Unknown quantization/i,
    read: as('UnsupportedByEngine'),
  },
  {
    // The log is the tenant's: of as many heads as memory has bytes there are too many divisors to try.
    line: /attention heads \((\d{1,4})\) must be divisible by tensor parallel size \((\d{1,4})\)/,
    read: (_, [, heads, tensor]) => ({
      reason: 'ParallelismInvalid',
      message:
        `${heads} attention heads cannot be divided among ${tensor} devices; values that work: ` +
        divisors(Number(heads)).join(', '),
    }),
  },
  {
    line: /creating shared memory segment|No space left on device.*(?:shm|psm_)/,
    read: as('SharedMemoryTooSmall'),
  },
  { line: /SafetensorError|deserializing header|InvalidHeader/, read: as('CheckpointCorrupt') },
  { line: /instantiate the backend tokenizer|Can't load tokenizer/, read: as('TokenizerInvalid') },
  {
    line: /User-specified max_model_len|invalid (?:reasoning|tool call) parser|unrecognized arguments|invalid choice|--enable-auto-tool-choice requires/,
    read: as('InvalidEngineConfig'),
  },
];

/** Null where no line names it: then the end of the log has to do. */
export function readVllmLog(log: string): Failure | null {
  const lines = log.split('\n').map((line) => withoutPrefix(line.slice(0, maxOfLine)));
  for (const { line, read } of signs) {
    for (const text of lines) {
      const match = line.exec(text);
      if (match !== null) return read(text, match);
    }
  }
  const error = lines.findLast((text) => /^[\w.]*(?:Error|Exception): /.test(text) && !symptom.test(text));
  return error === undefined ? null : { reason: 'Crashed', message: `vLLM ended: ${shortened(error)}` };
}

/** Reported by the process that waited for the one that failed. */
const symptom = /Engine core initialization failed|WorkerProc initialization failed|EngineDeadError/;

function as(reason: Failure['reason'], cutAt?: string): Sign['read'] {
  return (text) => {
    const cause = cutAt === undefined ? text : (text.split(cutAt)[0] ?? '');
    return { reason, message: `vLLM: ${shortened(cause)}` };
  };
}

function shortened(text: string): string {
  const cause = text.replace(/^(?:[\w.]*(?:Error|Exception)|Value error)[:,] /, '').trim();
  return cause.length > maxCharacters ? `${cause.slice(0, maxCharacters)}…` : cause;
}

/** `(EngineCore pid=7) ERROR 11-22 11:13:19 [core.py:12] text` as `text`. */
function withoutPrefix(line: string): string {
  return line
    .replace(/^(?:\([\w -]+ pid=\d+\) )+/, '')
    .replace(/^(?:INFO|WARNING|ERROR|CRITICAL) [\d-]+ [\d:]+ \[[^\]]+\] /, '')
    .trim();
}

function divisors(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1).filter((each) => count % each === 0);
}
