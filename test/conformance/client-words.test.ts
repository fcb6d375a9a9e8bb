// Each word that the types of OpenAI's and Anthropic's clients have for a field, or for a kind of entry of a list: taken or
// refused as README.md has it.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { smallBatches } from '../../runtime/src/http/batches/batch-service.fixture.js';
import { output } from '../../runtime/src/http/scripted-engine.fixture.js';
import { ScriptedServer } from '../../runtime/src/http/scripted-server.fixture.js';
import { refusesAt, wordsRows } from './conformance-page.js';
import { minimal, sampleOf } from './samples.js';
import { BodySender } from './send-body.js';

let server: ScriptedServer;
let sender: BodySender;
beforeAll(async () => {
  const batches = smallBatches({ isServing: () => false });
  server = await ScriptedServer.start({ tools: true, batches });
  sender = new BodySender(server);
  await sender.upload();
  server.script = () => [{ ...output([]), embedding: Float32Array.of(3, 4), finish: 'stop' }];
});
afterAll(() => server.stop());

const rows = wordsRows();

test.each(rows.map((row) => [row.kind, row.place, row] as const))('%s: %s', async (kind, place, row) => {
  const without = { ...minimal[kind], ...sampleOf(kind, place.split('.', 1).join())?.beside };
  for (const word of row.words) {
    const response = await sender.send(kind, { ...without, ...row.body(word) });
    const { error } = (await response.json()) as { error?: { message: string } | null };
    expect([200, 400]).toContain(response.status);
    const isRefused = refusesAt(place, error?.message ?? '');
    expect({ word, isRefused }).toEqual({ word, isRefused: row.refused.includes(word) });
  }
});

test('a place is refused by its own name, or by that of what it is in', () => {
  expect(refusesAt('tools.0.type', 'a is required; tools.0.type must be "function"')).toBe(true);
  expect(refusesAt('messages.0.content.0.type', 'messages.0.content must be a string')).toBe(true);
  expect(refusesAt('tools.0.type', 'tools.0.function is required')).toBe(false);
});
