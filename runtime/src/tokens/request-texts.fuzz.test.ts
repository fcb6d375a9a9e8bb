// Whatever a request's text is, the server itself encodes it to the ids that a text process gives, in short time, behind
// every public pattern; and no text has fewer tokens than the bound says. FUZZ_SECONDS: how long to look for one that does
// not hold; without it, a number of texts that is always the same.

import { expect, jest, test } from '@jest/globals';
import { randomNumbers } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { makeLogger } from '../log/logger.js';
import { isKnownTokenizer } from './known-tokenizer.js';
import { preTokenizerPatterns } from './pre-tokenizer-patterns.js';
import { nastyText } from './nasty-texts.fixture.js';
import { TextProcesses } from '../text-processes/text-processes.js';
import { tokenizerJson } from './tokenizer.fixture.js';
import { longTextChars, Tokenizer } from './tokenizer.js';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0);
const minTexts = 30;
/** Of the processor: a pattern that is not linear takes minutes for the longest texts. */
const maxMs = 3000;

interface File {
  normalizer: unknown;
  pre_tokenizer: unknown;
}

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const families: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(preTokenizerPatterns).map(([name, patterns]) => [
      name,
      {
        type: 'Sequence',
        pretokenizers: [
          ...patterns.map((Regex) => ({
            type: 'Split',
            pattern: { Regex },
            behavior: 'Isolated',
            invert: false,
          })),
          byteLevel,
        ],
      },
    ]),
  ),
  smollm: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Digits', individual_digits: true },
      { ...byteLevel, use_regex: true },
    ],
  },
  gemma: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
      byteLevel,
    ],
  },
};

jest.setTimeout(120_000 + seconds * 1000);

test.each(Object.entries(families))('texts of any kind behind the pattern of %s', async (_, preTokenizer) => {
  const file = JSON.parse(tokenizerJson()) as File;
  file.pre_tokenizer = preTokenizer;
  expect(isKnownTokenizer(file)).toBe(true);
  const json = JSON.stringify(file);
  const tokenizer = Tokenizer.fromJson(json, 'tokenizer.json');
  const processes = await TextProcesses.start({
    tokenizerJson: json,
    tokenizerName: 'tokenizer.json',
    template: null,
    roomMb: 512,
    logger: makeLogger('error'),
  });
  const numbers = randomNumbers(20261125);
  const random = (below: number): number => numbers() % below;
  const end = Date.now() + (seconds * 1000) / Object.keys(families).length;
  try {
    for (let i = 0; i < minTexts || Date.now() < end; i++) {
      const text = nastyText(random, longTextChars - 1);
      const before = process.cpuUsage();
      const near = await tokenizer.encode(text, { addSpecialTokens: false });
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1000 > maxMs) throw new Error(`slow: ${JSON.stringify(text.slice(0, 80))}`);
      const far = await processes.encode(text, false);
      if (near.length !== far.length || near.some((id, at) => id !== far[at]))
        throw new Error(`two encodings: ${JSON.stringify(text.slice(0, 80))}`);
      const [fewest = 0] = await tokenizer.fewestTokens([text]);
      if (fewest > near.length)
        throw new Error(`bound of ${String(fewest)}: ${JSON.stringify(text.slice(0, 80))}`);
    }
  } finally {
    await processes.close();
  }
});
