// Chat templates are programs that come with the weights: what one does that never ends, or that takes all memory, to
// its own request, and that the server does not notice; and whose fault a flaw of it is.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Witness } from '../attacks/witness.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(240_000);

/** What the template does is chosen by the last message. */
const template = `
{%- if messages[-1].content == 'loop' -%}
  {%- for a in range(99999) -%}{%- for b in range(99999) -%}{%- endfor -%}{%- endfor -%}
{%- elif messages[-1].content == 'grow' -%}
  {%- set all = namespace(items=[]) -%}
  {%- for a in range(99999) -%}{%- set all.items = all.items + [range(99999) | list] -%}{%- endfor -%}
{%- elif messages[-1].content == 'count' -%}
  {{- range(100000000) | length -}}
{%- elif messages[-1].content == 'double' -%}
  {%- set all = namespace(text='xxxxxxxx') -%}
  {%- for a in range(9) -%}
    {%- set all.text = all.text.replace('x', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') -%}
  {%- endfor -%}
{%- elif messages[-1].content == 'nest' -%}
  {%- set all = namespace(items=['x']) -%}
  {%- for a in range(60) -%}{%- set all.items = [all.items, all.items] -%}{%- endfor -%}
  {{- all.items -}}
{%- elif messages[-1].content == 'flaw' -%}
  {{- 'a' | no_such_filter -}}
{%- endif -%}
The capital of {{ messages[-1].content }}`;

const ask = (content: string, ownTemplate = false): object => ({
  messages: [{ role: 'user', content }],
  max_tokens: 1,
  ...(ownTemplate ? { chat_template: template } : {}),
});

const folder = mkdtempSync(join(tmpdir(), 'llmservice-template-'));
let replica: ReplicaProcess;
beforeAll(async () => {
  cpSync(demoCheckpoint, folder, { recursive: true });
  writeFileSync(join(folder, 'chat_template.jinja'), template);
  const env = { LLMSERVICE_TRUST_REQUEST_CHAT_TEMPLATE: 'true' };
  replica = await ReplicaProcess.start({ uri: folder, env });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

// Which limit it meets first depends on how fast the machine is, and how much memory there is.
const tooMuch = /it takes (too much work|more than \d+ s of a processor) to be rendered$/;
const limits = /it takes (too much work|more than \d+ (s of a processor|MB of memory)) to be rendered$/;

test.each([
  ['the checkpoint’s', false],
  ['its own', true],
])('a request that %s template does not end for, or takes all memory, fails alone', async (_, isOwn) => {
  const witness = await Witness.begin({ port: Number(new URL(replica.url).port) });
  const asked = ['loop', 'grow', 'count', 'double', 'nest'].map(async (content) => {
    const response = await replica.post('/v1/chat/completions', ask(content, isOwn));
    return [content, response.status, await response.json()];
  });
  const refused = (content: string, why: RegExp) => [
    content,
    400,
    {
      error: expect.objectContaining({ code: 'chat_template_refused', message: expect.stringMatching(why) }),
    },
  ];
  expect(await Promise.all(asked)).toEqual([
    refused('loop', tooMuch),
    refused('grow', limits),
    refused('count', /Range too big/),
    refused('double', limits),
    refused('nest', tooMuch),
  ]);
  await witness.end();
  expect(witness.faults).toEqual([]);
  expect((await replica.health()).engine?.restarts).toBe(0);
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
});

test('a flaw of the template is not reported as a fault of the request', async () => {
  const response = await replica.post('/v1/chat/completions', ask('flaw'));
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    error: expect.objectContaining({
      code: 'ChatTemplateInvalid',
      message: expect.stringMatching(/No filter named 'no_such_filter'/),
    }),
  });
});

test('a flaw of its own template is a fault of the request', async () => {
  const response = await replica.post('/v1/chat/completions', ask('flaw', true));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: 'chat_template_refused', message: expect.stringContaining('no_such_filter') },
  });
});

test('a conversation that waits for others is not refused for their time', async () => {
  const endless = Array.from({ length: 3 }, () => replica.post('/v1/chat/completions', ask('loop')));
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
  expect((await Promise.all(endless)).map(({ status }) => status)).toEqual([400, 400, 400]);
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
});

test.each([
  [
    'does not end',
    '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
    /too much work|s of a processor/,
  ],
  ['calls what is not there', '{{ render(messages) }}', /'render' is undefined/],
])(
  'a checkpoint whose template %s is not served',
  async (_, broken, why) => {
    const other = mkdtempSync(join(tmpdir(), 'llmservice-template-'));
    try {
      cpSync(demoCheckpoint, other, { recursive: true });
      writeFileSync(join(other, 'chat_template.jinja'), broken);
      const failed = await ReplicaProcess.start({ uri: other });
      // Each of five conversations may take the limit's time.
      expect(await failed.exited(200_000)).toBe(1);
      expect(failed.terminationMessage).toMatchObject({
        reason: 'ChatTemplateInvalid',
        message: expect.stringMatching(why),
      });
    } finally {
      rmSync(other, { recursive: true });
    }
  },
  240_000,
);
