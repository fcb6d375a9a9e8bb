import { expect, test } from '@jest/globals';
import { mergeAsync } from './merge-deltas.js';

/** Yields what it is given when it is given it. */
class Source implements AsyncIterator<string> {
  readonly #asked: { resolve: (result: IteratorResult<string>) => void; reject: (error: Error) => void }[] =
    [];
  isClosed = false;

  next(): Promise<IteratorResult<string>> {
    return new Promise((resolve, reject) => this.#asked.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<string>> {
    this.isClosed = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  give(value: string | null): void {
    this.#asked.shift()?.resolve(value === null ? { done: true, value: null } : { done: false, value });
  }

  fail(message: string): void {
    this.#asked.shift()?.reject(new Error(message));
  }
}

const turn = () => new Promise(setImmediate);

test('gives parts as they come, several that came together too, to the end of all', async () => {
  const [a, b] = [new Source(), new Source()];
  const merged: string[] = [];
  const read = (async () => {
    for await (const { index, value } of mergeAsync([a, b])) merged.push(`${String(index)}${value}`);
  })();
  b.give('x');
  a.give('y');
  await turn();
  b.give('z');
  await turn();
  a.give(null);
  await turn();
  b.give('end');
  await turn();
  b.give(null);
  await read;
  expect(merged).toEqual(['1x', '0y', '1z', '1end']);
});

test.each(['an error', 'a reader that leaves'])('closes every source after %s', async (how) => {
  const sources = [new Source(), new Source(), new Source()];
  const merged = mergeAsync(sources);
  const first = merged.next();
  sources[1]!.give('x');
  sources[2]!.give('y');
  await first;
  if (how === 'an error') {
    sources[0]!.fail('lost');
    await merged.next(); // of the third, which came before
    await expect(merged.next()).rejects.toThrow('lost');
  } else {
    await merged.return(undefined);
  }
  expect(sources.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
});

test('holds nothing for parts that were delivered while another source is silent', async () => {
  const [loud, silent] = [new Source(), new Source()];
  let reactions = 0;
  const asked = silent.next.bind(silent);
  silent.next = () => {
    const part = asked();
    const then = part.then.bind(part);
    part.then = ((...handlers: Parameters<typeof then>) => {
      reactions += 1;
      return then(...handlers);
    }) as typeof part.then;
    return part;
  };
  const merged = mergeAsync([loud, silent]);
  for (let i = 0; i < 50; i++) {
    const next = merged.next();
    loud.give('x');
    await next;
  }
  expect(reactions).toBe(1);
  await merged.return(undefined);
});
