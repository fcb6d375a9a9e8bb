import { expect, test } from '@jest/globals';
import type { Failure } from '@llmservice/crds';
import type { CompiledGrammar } from '@llmservice/native';
import { GrammarCache, grammarId } from './grammar-cache.js';

const failure: Failure = { reason: 'GrammarInvalid', message: 'too slow' };
const grammar = {} as CompiledGrammar;

function cache() {
  const clock = { now: 0 };
  return { clock, of: new GrammarCache({ bytes: 100, refusals: 2, refusalMs: 1000 }, () => clock.now) };
}

test('grammars go by bytes, those used longest ago first', () => {
  const { of } = cache();
  of.compiled('a', grammar, 40);
  of.compiled('b', grammar, 40);
  of.get('a');
  of.compiled('c', grammar, 40);
  expect(['a', 'b', 'c'].map((id) => of.get(id)?.kind)).toEqual(['compiled', undefined, 'compiled']);
});

test('one of more bytes than all may have is not kept', () => {
  const { of } = cache();
  of.compiled('a', grammar, 101);
  expect(of.get('a')).toBeNull();
});

test('refusals are few, last a while, and drive out no grammar', () => {
  const { clock, of } = cache();
  of.compiled('a', grammar, 100);
  for (const id of ['x', 'y', 'z']) of.refused(id, failure);
  expect(['a', 'x', 'y', 'z'].map((id) => of.get(id)?.kind)).toEqual([
    'compiled',
    undefined,
    'refused',
    'refused',
  ]);
  clock.now = 1000;
  expect(of.get('y')).toBeNull();
  of.refused('y', failure);
  expect(of.get('y')).toMatchObject({ failure });
});

test('the kind is part of what a grammar is', () => {
  expect(grammarId('regex', 'a')).not.toBe(grammarId('ebnf', 'a'));
});
