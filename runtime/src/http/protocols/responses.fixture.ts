// Requests of OpenAI's Responses, and OpenAI's own client that sends them.

import OpenAI from 'openai';
import { noDefaults } from '../../request/fields/generation-defaults.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';

export const responsesClient = ({ url }: ScriptedServer): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

export const body = { model: 'tiny', input: 'x' };
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
export const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  name,
  parameters,
  strict: false,
}));

/** Of a request that asks for nothing else. */
export const defaults = noDefaults;
