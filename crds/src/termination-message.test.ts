import { describe, expect, it } from '@jest/globals';
import { terminationMessageMaxBytes } from './names.js';
import { formatTerminationMessage, parseTerminationMessage } from './termination-message.js';

const bytes = (text: string): number => Buffer.byteLength(text);

describe('termination messages', () => {
  it('survive a round trip with their figures', () => {
    const failure = {
      reason: 'KvCacheTooSmall',
      message: 'context 32768 does not fit',
      detail: { fits: 8192 },
    } as const;
    expect(parseTerminationMessage(formatTerminationMessage(failure))).toEqual(failure);
  });

  it.each([
    ['one-byte', 'x'],
    ['two-byte', 'é'],
    ['three-byte', '語'],
    ['four-byte', '🙂'],
    ['escaped', '"'],
    ['six-byte escapes', '\u0001'],
  ])('cut a message of %s characters to what fits, using all the room there is', (_, character) => {
    const text = formatTerminationMessage({ reason: 'Crashed', message: character.repeat(10_000) });
    expect(bytes(text)).toBeLessThanOrEqual(terminationMessageMaxBytes);
    expect(bytes(text)).toBeGreaterThan(terminationMessageMaxBytes - 6);
    expect(parseTerminationMessage(text)?.message).toMatch(new RegExp(`^(${character})+$`, 'u'));
  });

  it('are left alone when they fit exactly and lose one character when they are one byte too long', () => {
    const empty = bytes(formatTerminationMessage({ reason: 'Crashed', message: '' }));
    const exact = 'x'.repeat(terminationMessageMaxBytes - empty);
    const message = (text: string) =>
      parseTerminationMessage(formatTerminationMessage({ reason: 'Crashed', message: text }))?.message;
    expect(message(exact)).toBe(exact);
    expect(message(`${exact}y`)).toBe(exact);
  });

  it('keep the detail of a message that is too long', () => {
    const text = formatTerminationMessage({
      reason: 'WeightsDiskFull',
      message: 'x'.repeat(9000),
      detail: { needed: 7 },
    });
    expect(parseTerminationMessage(text)?.detail).toEqual({ needed: 7 });
  });

  it('give up a detail that alone is too long', () => {
    const text = formatTerminationMessage({
      reason: 'Crashed',
      message: 'short',
      detail: { log: 'x'.repeat(5000) },
    });
    expect(parseTerminationMessage(text)).toEqual({ reason: 'Crashed', message: 'short' });
  });

  it.each([
    ['nothing', undefined],
    ['a log line', 'Error: boom'],
    ['JSON that is no object', '"Crashed"'],
    ['an unknown reason', '{"reason":"Bored","message":"x"}'],
    ['an inherited name', '{"reason":"toString","message":"x"}'],
    ['no message', '{"reason":"Crashed"}'],
  ])('that are %s are not taken for ours', (_, text) => {
    expect(parseTerminationMessage(text)).toBeNull();
  });
});
