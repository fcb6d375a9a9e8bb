import { describe, expect, test } from '@jest/globals';
import { modelOfBody } from './model-of-body.js';

const named = (name: string) => ({ state: 'named', name });
const read = (text: string) => modelOfBody(Buffer.from(text));

describe('the model of a body', () => {
  test.each<[string, string, object]>([
    ['at the front', '{"model":"a","x":1}', named('a')],
    ['behind spaces', '{ "x" : [ {} ] ,\n"model"\t:\r\n "a" }', named('a')],
    ['behind one that is deeper', '{"x":{"model":"b"},"y":[{"model":"c"}],"model":"a"}', named('a')],
    ['the last of several', '{"model":"b","model":"a"}', named('a')],
    ['by a key that is escaped', '{"\\u006dodel":"a"}', named('a')],
    ['with escapes and letters of others', '{"model":"\\u00e4ß\\"\\\\"}', named('äß"\\')],
    ['not where it is a value', '{"x":"model","y":"b"}', { state: 'absent' }],
    ['not within a text', '{"x":"\\"model\\":\\"b\\"\\\\","model":"a"}', named('a')],
    ['not where braces stand in texts', '{"x":"}}{","model":"a"}', named('a')],
    ['not at the top of a list', '[{"model":"a"}]', { state: 'absent' }],
    ['as no text', '{"model":7}', { state: 'invalid' }],
    ['as nothing', '{"model":null}', { state: 'invalid' }],
    ['as an empty text', '{"model":""}', { state: 'invalid' }],
    ['of no JSON', '{"model":"a', { state: 'invalid' }],
    ['of nothing', '', { state: 'absent' }],
  ])('%s', (_, text, model) => {
    expect(read(text)).toEqual(model);
  });

  test.each<[string, Buffer]>([
    ['UTF-8 with a mark', Buffer.from('\ufeff{"model":"a"}')],
    ['UTF-16', Buffer.from('{"model":"a"}', 'utf16le')],
    ['UTF-16 with a mark', Buffer.from('\ufeff{"model":"a"}', 'utf16le')],
    ['UTF-16 of the other order', Buffer.from('\ufeff{"model":"a"}', 'utf16le').swap16()],
    ['UTF-32', Buffer.from('{\0\0\0"\0\0\0')],
  ])('in %s is not read', (_, body) => {
    expect(modelOfBody(body)).toEqual({ state: 'encoded' });
  });

  test('is read of a thousand members, and no more', () => {
    const members = (count: number): string => '"a":1,'.repeat(count);
    expect(read(`{${members(999)}"model":"a"}`)).toEqual(named('a'));
    expect(read(`{"model":"a",${members(999)}"model":"b"}`)).toEqual({ state: 'crowded' });
  });

  test('says what JSON.parse says of 2,000 random bodies', () => {
    let seed = 7;
    const below = (count: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * count);
    };
    const texts = ['model', 'mod\\el', '"', '\\', '\\"', '{', ']', 'a', ''];
    const any = (depth: number): unknown => {
      const kind = depth > 3 ? 0 : below(4);
      if (kind === 0) return texts[below(texts.length)];
      if (kind === 1) return below(2) === 0 ? null : below(100);
      if (kind === 2) return Array.from({ length: below(4) }, (): unknown => any(depth + 1));
      return object(depth + 1);
    };
    const object = (depth: number): object =>
      Object.fromEntries(
        Array.from({ length: below(5) }, () => [texts[below(texts.length)], any(depth)]),
      ) as object;
    for (let round = 0; round < 2_000; round += 1) {
      const body = object(0) as { model?: unknown };
      const { model } = body;
      const wanted =
        model === undefined
          ? { state: 'absent' }
          : typeof model === 'string' && model !== ''
            ? named(model)
            : { state: 'invalid' };
      expect(read(JSON.stringify(body, null, below(3)))).toEqual(wanted);
    }
  });

  test.each([
    ['one text', `{"image":"${'a'.repeat(32 * 2 ** 20)}","model":"a"}`, named('a')],
    ['short members', `{"model":"a"${',"a":1'.repeat(5_500_000)}}`, { state: 'crowded' }],
  ])('takes 32 MiB of %s in a fraction of a second of the processor', (_, text, model) => {
    const body = Buffer.from(text);
    const before = process.cpuUsage();
    expect(modelOfBody(body)).toEqual(model);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
