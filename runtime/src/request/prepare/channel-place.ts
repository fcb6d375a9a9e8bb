// Where in a message of OpenAI's Harmony format a prompt ends, and so how its answer begins.

import type { HarmonyTokens } from '../../harmony/harmony-tokens.js';
import { MessageHeader } from '../../harmony/message-header.js';
import type { ChannelPlace } from '../text/channel-reader.js';

/** @param textOf a token as text */
export function channelPlace(
  prompt: Int32Array,
  tokens: HarmonyTokens,
  textOf: (id: number) => string,
): ChannelPlace {
  const message = prompt.subarray(prompt.lastIndexOf(tokens.start) + 1);
  const textAt = message.indexOf(tokens.message);
  if (textAt === -1) return { at: 'header', hasRole: true };
  const ends: readonly number[] = [tokens.end, tokens.call, tokens.return];
  if (ends.includes(message.at(-1) ?? -1)) return { at: 'header', hasRole: false };
  const header = new MessageHeader(false, null);
  for (const id of message.subarray(0, textAt)) {
    if (id === tokens.channel) header.mark('channel');
    else header.push(textOf(id));
  }
  return { at: 'text', isReasoning: header.destination.kind === 'reasoning' };
}
