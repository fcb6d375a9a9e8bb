import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { chooseGguf, ggufFiles } from './choose-gguf.js';

const failureOf = (run: () => unknown): string => {
  const { reason, message } = thrownBy(FailureError, run);
  return `${reason}: ${message}`;
};
const part = (number: number, stem = 'm', count = 3): string => `${stem}-0000${number}-of-0000${count}.gguf`;

describe('chooseGguf', () => {
  test.each<[string, string[], string | null]>([
    ['one file', ['README.md', 'm.gguf'], 'm.gguf'],
    ['the first part of one set', [part(2), part(3), 'README.md', part(1)], part(1)],
    ['the first part, be it there or not', [part(2), part(3)], part(1)],
    ['a set of one as a file', ['m-00001-of-00001.gguf'], 'm-00001-of-00001.gguf'],
    ['safetensors first', [part(1), part(2), part(3), 'model.safetensors'], null],
    ['nothing', ['config.json'], null],
  ])('takes %s', (_, names, wanted) => expect(chooseGguf('u', names)).toBe(wanted));

  test.each<[string, string[], string]>([
    ['two files', ['b.gguf', 'a.gguf'], 'u holds 2 checkpoints in GGUF, a.gguf, b.gguf: name one of them'],
    [
      'two sets',
      [part(1), part(2), part(1, 'n'), part(2, 'n'), part(3, 'n')],
      `${part(1)} (2 of 3 parts), ${part(1, 'n')} (3 of 3 parts): name one of them instead of the folder`,
    ],
    [
      'parts of two counts',
      [part(1), part(2), part(3, 'm', 4)],
      `${part(1)} (2 of 3 parts), ${part(1, 'm', 4)} (1 of 4 parts)`,
    ],
    ['a file and a set', [part(1), part(2), part(3), 'm.gguf'], `${part(1)} (3 of 3 parts), m.gguf: name`],
    ['many files', ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.gguf`), 'e.gguf and 2 more'],
  ])('refuses %s', (_, names, message) => {
    const said = failureOf(() => chooseGguf('u', names));
    expect(said).toMatch(/^CheckpointIncomplete: /);
    expect(said).toContain(message);
  });
});

describe('ggufFiles', () => {
  test('are the file itself, or all parts in their order', () => {
    expect(ggufFiles('u', ['m.gguf', 'n.gguf'], 'm.gguf')).toEqual(['m.gguf']);
    expect(ggufFiles('u', [part(3), part(1), part(2), part(2, 'n')], part(1))).toEqual(
      [1, 2, 3].map((at) => part(at)),
    );
  });

  test.each<[string, string[], string, string]>([
    ['a file that is not there', ['n.gguf'], 'm.gguf', 'ModelNotFound: u has no m.gguf'],
    ['a set that is not there', ['n.gguf'], part(1), `ModelNotFound: u has no ${part(1)}`],
    [
      'a part other than the first',
      [part(1), part(2), part(3)],
      part(2),
      `ModelNotFound: ${part(2)} is part 2 of 3 of a split checkpoint: name the first part instead, ${part(1)}`,
    ],
    ['a missing part', [part(1), part(3)], part(1), `CheckpointIncomplete: missing weight files: ${part(2)}`],
    ['a missing first part', [part(2), part(3)], part(1), `missing weight files: ${part(1)}`],
    [
      'a part of another count',
      [part(1), part(2, 'm', 4), part(3)],
      part(1),
      `missing weight files: ${part(2)}`,
    ],
  ])('refuses %s', (_, names, file, message) => {
    expect(failureOf(() => ggufFiles('u', names, file))).toContain(message);
  });
});
