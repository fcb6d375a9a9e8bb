// Requests of Anthropic's Messages, and Anthropic's own client that sends them.

import Anthropic from '@anthropic-ai/sdk';
import type { ScriptedServer } from '../scripted-server.fixture.js';

export const messagesClient = ({ url }: ScriptedServer): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });

export const user = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({
  role: 'user',
  content,
});
export const body = { model: 'tiny', max_tokens: 500, messages: [user('x')] };

/** Of each of the tools. */
export const input_schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
export const tools = ['weather', 'time'].map((name) => ({ name, input_schema }));
