import { describe, expect, it } from '@jest/globals';
import { readKeyFile } from './read-key-file.js';

const hash = (digit: string): string => digit.repeat(64);
const violations = (file: unknown): string[] => {
  const result = readKeyFile(typeof file === 'string' ? file : JSON.stringify(file));
  return result.ok ? [] : result.violations.map(({ path, message }) => `${path} ${message}`.trim());
};
const key = { id: 'a', sha256: hash('1') };

describe('readKeyFile', () => {
  it.each([
    ['YAML', `keys:\n  - id: team-a\n    sha256: ${hash('a')}\n    tokensPerDay: 5\n`],
    ['JSON', JSON.stringify({ keys: [{ id: 'team-a', sha256: hash('A'), tokensPerDay: 5 }] })],
    ['a list of one hash', `keys: [{id: team-a, sha256: [${hash('a')}], tokensPerDay: 5}]`],
  ])('reads %s, complete', (_, text) => {
    expect(readKeyFile(text)).toEqual({
      ok: true,
      value: [
        {
          id: 'team-a',
          hashes: [hash('a')],
          priority: 0,
          weight: 1,
          tokensPerMinute: null,
          tokensPerDay: 5,
          cacheGroup: null,
          concurrency: null,
        },
      ],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['broken YAML', 'keys: [', /^is not YAML: line \d+/],
    ['an alias of nothing', 'keys: [{ id: *team }]', /^has an alias \(\*name\) that no anchor stands before/],
    ['nothing', '', /^must be an object with one field, keys/],
    ['a list', [key], /^must be an object with one field, keys/],
    ['no keys', { keys: [] }, /^keys must be a list of 1 to 1000 keys; to serve without keys/],
    ['no id', { keys: [{ sha256: hash('1') }] }, /^keys\[0\]\.id is required/],
    [
      'an id with a blank',
      { keys: [{ ...key, id: 'a b' }] },
      /^keys\[0\]\.id must be a name .* such as team-a/,
    ],
    [
      'a key instead of its hash',
      { keys: [{ ...key, sha256: 'sk-1' }] },
      /^keys\[0\]\.sha256 must be .*sha256sum/,
    ],
    ['one that is a number', { keys: [{ ...key, sha256: 5 }] }, /^keys\[0\]\.sha256 must be .*sha256sum/],
    [
      'three hashes',
      { keys: [{ ...key, sha256: [hash('1'), hash('2'), hash('3')] }] },
      /\.sha256 must be .*two/,
    ],
    [
      'a budget of nothing',
      { keys: [{ ...key, tokensPerMinute: 0 }] },
      /\.tokensPerMinute must be .*at least 1/,
    ],
    ['half a request', { keys: [{ ...key, concurrency: 0.5 }] }, /\.concurrency must be requests at once/],
    ['a priority out of range', { keys: [{ ...key, priority: 9 }] }, /\.priority must be from -8/],
    [
      'a misspelt field',
      { keys: [{ ...key, tokenPerDay: 5 }] },
      /^keys\[0\]\.tokenPerDay is not a known field/,
    ],
    [
      'an id twice',
      { keys: [key, { ...key, sha256: hash('2') }] },
      /^keys\[1\]\.id is that of keys\[0\] too/,
    ],
    ['a hash twice', { keys: [key, { ...key, id: 'b' }] }, /^keys\[1\]\.sha256 is that of the key a too/],
    [
      'the hash of an unset variable',
      { keys: [{ ...key, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' }] },
      /^keys\[0\]\.sha256 is the hash of nothing/,
    ],
  ])('refuses %s', (_, file, expected) => {
    const found = violations(file);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it('reports everything at once, and never what may be a key', () => {
    const found = violations({
      keys: [
        { id: 'a', sha256: 'sk-secret', weight: 0 },
        { id: 'b', key: 'sk-other' },
      ],
    });
    expect(found).toHaveLength(4);
    expect(found.join()).not.toMatch(/sk-secret|sk-other/);
  });
});
