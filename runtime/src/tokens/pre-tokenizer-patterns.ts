// Patterns of pre-tokenizers that are public, as the models' own tokenizer.json quote them. Their matching takes linear
// time: no two of their repetitions can share a text in more than one way, so that a failed match gives up in one walk
// back. trying-texts.ts and text-attacks.fuzz.test.ts hold them to it.
// Sources: tokenizer.json of each family; llama.cpp, src/llama-vocab.cpp; openai/tiktoken, tiktoken_ext/openai_public.py.

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const spaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const signs = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*';
const before = '[^\\r\\n\\p{L}\\p{N}]?';
const upper = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const lower = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';

/** A list where a family splits several times. */
export const preTokenizerPatterns = {
  /** Also Mistral's before Tekken. `ByteLevel` brings it along. */
  gpt2: ["'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"],
  /** Also Llama 4's predecessors and cl100k of tiktoken. */
  llama3: [`${contractions}|${before}\\p{L}+|\\p{N}{1,3}|${signs}|${spaces}`],
  /** Qwen 2 to 3. */
  qwen2: [`${contractions}|${before}\\p{L}+|\\p{N}|${signs}|${spaces}`],
  qwen35: [`${contractions}|${before}[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${spaces}`],
  /** GPT-4o, gpt-oss, Llama 4. */
  o200k: [
    `${before}${upper}*${lower}+${contractions}?|${before}${upper}+${lower}*${contractions}?|\\p{N}{1,3}|` +
      ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
  ],
  /** Mistral's since Nemo. */
  tekken: [
    `${before}${upper}*${lower}+|${before}${upper}+${lower}*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
  ],
  /** V3 and R1. */
  deepseek3: [
    '\\p{N}{1,3}',
    '[一-龥\u3040-ゟ゠-ヿ]+',
    '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|' +
      ` ?[\\p{P}\\p{S}]+[\\r\\n]*|${spaces}`,
  ],
} as const satisfies Record<string, readonly string[]>;

const known = new Set<unknown>(Object.values(preTokenizerPatterns).flat());

/** Line ends stand in files as escapes, and as themselves. */
export function isPublicPattern(pattern: unknown): boolean {
  return typeof pattern === 'string' && known.has(pattern.replaceAll('\r', '\\r').replaceAll('\n', '\\n'));
}
