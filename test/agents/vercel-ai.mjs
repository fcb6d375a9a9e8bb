// Vercel's AI SDK: a tool that reads a file, its result, and the answer, by chat completions or Responses, once streamed.
// usage: vercel-ai.mjs chat|responses BASE_URL TASK   (in the folder of the task's file)

import { readFile } from 'node:fs/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';

const [protocol, url, prompt] = process.argv.slice(2);
const settings = { name: 'local', baseURL: `${url}/v1`, apiKey: 'none' };
const model =
  protocol === 'chat' ? createOpenAICompatible(settings)('demo') : createOpenAI(settings).responses('demo');
const request = {
  model,
  prompt,
  tools: {
    read_file: tool({
      description: 'Reads a file of text.',
      inputSchema: jsonSchema({
        type: 'object',
        properties: { path: { type: 'string' } },
        required: ['path'],
        additionalProperties: false,
      }),
      execute: ({ path }) => readFile(path, 'utf8'),
    }),
  },
  stopWhen: isStepCount(3),
  // Nothing is stored here: the items of an answer are sent back, not referred to.
  providerOptions: { openai: { store: false } },
};
console.log((await generateText(request)).text);
console.log(await streamText(request).text);
