// Texts that are hard on pre-tokenizers: runs of one character, alternations, combining marks, emoji sequences, and
// characters of each Unicode category.

const categories = [
  'Lu',
  'Ll',
  'Lt',
  'Lm',
  'Lo',
  'Mn',
  'Mc',
  'Me',
  'Nd',
  'Nl',
  'No',
  'Pc',
  'Pd',
  'Ps',
  'Pe',
  'Pi',
  'Pf',
].concat(['Po', 'Sm', 'Sc', 'Sk', 'So', 'Zs', 'Zl', 'Zp', 'Cc', 'Cf', 'Co', 'Cn']);

/** Some characters of each category. */
export const charactersOf: ReadonlyMap<string, readonly string[]> = new Map(
  categories.map((category) => {
    const pattern = new RegExp(`^\\p{${category}}$`, 'u');
    const found: string[] = [];
    // Steps that are coprime to the sizes of blocks, so that all planes are seen.
    for (let code = 0; code < 0x110000 && found.length < 24; code += code < 0x3000 ? 1 : 53) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      if (pattern.test(character)) found.push(character);
    }
    return [category, found];
  }),
);

const pieces = [
  ...[
    'a',
    'A',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u00a0',
    '1',
    "'",
    "'s",
    "'LL",
    '!',
    '/',
    '_',
    '日',
    'ﷺ',
    '\u0345',
    'e\u0301',
  ],
  ...[
    '\u1100\u1161\u11a8',
    '👩‍👩‍👧‍👦',
    '🏳️‍🌈',
    '🇩🇪',
    '\u200d',
    '\ufe0f',
    '\ud800',
    '\ufeff',
    '\u0000',
    '<|end|>',
    '<|en',
    'hello',
    ' world',
  ],
];

type Random = (below: number) => number;

/** @param maxChars of it; the most nasty ones are that long */
export function nastyText(random: Random, maxChars: number): string {
  const length = random(4) === 0 ? maxChars : 1 + random(maxChars >> random(12));
  const alphabet = Array.from({ length: 1 + random(4) }, () => piece(random));
  let text = '';
  switch (random(4)) {
    case 0:
      text = (alphabet[0] ?? 'a').repeat(length);
      break;
    case 1:
      text = alphabet.join('').repeat(length);
      break;
    case 2:
      while (text.length < length)
        text += (alphabet[random(alphabet.length)] ?? 'a').repeat(1 + random(length));
      break;
    default:
      while (text.length < length) text += piece(random);
  }
  return piece(random) + text.slice(0, Math.max(0, length - 8)) + piece(random).slice(0, 4);
}

function piece(random: Random): string {
  if (random(2) === 0) return pieces[random(pieces.length)] ?? 'a';
  const of = charactersOf.get(categories[random(categories.length)] ?? 'Lu') ?? [];
  return of[random(of.length)] ?? 'a';
}
