// Chat templates are programs that come with the weights: what one does that never ends, or that takes all memory, to
// its own request, and that the server does not notice.

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
  {%- for a in range(99999) -%}{%- set all.items = all.items + [range(999999)] -%}{%- endfor -%}
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
{%- endif -%}
The capital of {{ messages[-1].content }}`;

const ask = (content: string): object => ({ messages: [{ role: 'user', content }], max_tokens: 1 });

const folder = mkdtempSync(join(tmpdir(), 'llmservice-template-'));
let replica: ReplicaProcess;
beforeAll(async () => {
  cpSync(demoCheckpoint, folder, { recursive: true });
  writeFileSync(join(folder, 'chat_template.jinja'), template);
  replica = await ReplicaProcess.start({ uri: folder });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

const overTime = /it takes more than 5 s of a processor to be rendered$/;
// Which limit they meet first depends on how fast the machine is.
const limits = /it takes more than (5 s of a processor|\d+ MB of memory) to be rendered$/;

test('templates that do not end, or take all memory, each fail their own request alone', async () => {
  const witness = await Witness.begin({ port: Number(new URL(replica.url).port) });
  const asked = ['loop', 'grow', 'count', 'double', 'nest'].map(async (content) => {
    const response = await replica.post('/v1/chat/completions', ask(content));
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
    refused('loop', overTime),
    refused('grow', limits),
    refused('count', limits),
    refused('double', limits),
    refused('nest', limits),
  ]);
  await witness.end();
  expect(witness.faults).toEqual([]);
  expect((await replica.health()).engine?.restarts).toBe(0);
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
});

test('a conversation that waits for others is not refused for their time, and processes that do not end are replaced', async () => {
  const endless = Array.from({ length: 3 }, () => replica.post('/v1/chat/completions', ask('loop')));
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
  expect((await Promise.all(endless)).map(({ status }) => status)).toEqual([400, 400, 400]);
  expect((await replica.post('/v1/chat/completions', ask('France'))).status).toBe(200);
});
