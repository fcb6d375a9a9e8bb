// Texts on which bad patterns of a pre-tokenizer fail: runs that match for long and then do not.

const length = 4096;
/** Of each kind that patterns distinguish: letters, marks, digits, signs, white space, ideographs, emoji. */
const kinds = [
  'a',
  'A',
  'é',
  'ª',
  '\u0301',
  '1',
  '!',
  "'",
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '日',
  '👩',
  '\u200d',
  '\ufdfa',
];
/** Characters that a pattern names, so that one about them alone is tried too. */
const maxNamed = 64;
const endings = ['', '!', 'a', '\n', '\u0000'];

/** @param json of the tokenizer: the characters of its patterns are tried too */
export function* tryingTexts(json: string): Generator<string> {
  const alphabet = [...new Set([...kinds, ...namedCharacters(json)])];
  for (const each of alphabet) {
    const run = each.repeat(length / each.length);
    for (const ending of endings) yield run + ending;
  }
  for (const first of kinds) {
    for (const second of kinds) if (first !== second) yield (first + second).repeat(length / 4) + '\u0000';
  }
}

function namedCharacters(json: string): string[] {
  const { normalizer, pre_tokenizer: preTokenizer } = JSON.parse(json) as Record<string, unknown>;
  const patterns: string[] = [];
  JSON.stringify([normalizer, preTokenizer], (key, value: unknown) => {
    if (key === 'Regex' || key === 'String') patterns.push(String(value));
    return value;
  });
  return Array.from(new Set(patterns.join(''))).slice(0, maxNamed);
}
