// POST /v2/models/NAME/infer: texts in a BYTES tensor, as KServe's and MLServer's clients send them.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  server.script = scriptOf('Hi!');
});
afterEach(() => server.stop());

const path = '/v2/models/tiny/infer';
const textsOf = (...data: unknown[]): object => ({
  name: 'text_input',
  shape: [data.length],
  datatype: 'BYTES',
  data,
});

async function ask(body: object, model = 'tiny'): Promise<{ status: number; answer: unknown }> {
  const response = await server.post(`/v2/models/${model}/infer`, body);
  return { status: response.status, answer: await response.json() };
}

test('answers each text as :predict answers it', async () => {
  const parameters = { max_tokens: 7, temperature: 0, seed: 5 };
  const { status, answer } = await ask({ id: '42', inputs: [textsOf('x', 'hello')], parameters });
  const predicted = await server.post('/v1/models/tiny:predict', {
    instances: ['x', 'hello'].map((prompt) => ({ ...parameters, prompt })),
  });
  const { predictions } = (await predicted.json()) as { predictions: { prompt_tokens: number }[] };
  expect([status, answer]).toEqual([
    200,
    {
      model_name: 'tiny',
      id: '42',
      parameters: {
        prompt_tokens: predictions.reduce((sum, each) => sum + each.prompt_tokens, 0),
        completion_tokens: 8,
      },
      outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [2], data: ['Hi!', 'Hi!'] }],
    },
  ]);
  const [first, second, ...others] = server.engine.requests.map((each) => ({ ...each, id: '' }));
  expect(others).toEqual([first, second]);
});

test('answers in the shape of the question, with reasoning as an output of its own', async () => {
  server.script = thinksAndCalls;
  const inputs = [{ ...textsOf('x', 'y'), shape: [2, 1], parameters: { content_type: 'str' } }];
  const { answer } = await ask({ inputs, parameters: { enable_thinking: true } }, 'small');
  expect(answer).toMatchObject({
    model_name: 'small',
    id: expect.stringMatching(/^infer-/),
    outputs: [
      { name: 'text_output', shape: [2, 1] },
      { name: 'reasoning', shape: [2, 1], data: ['Which city?', 'Which city?'] },
    ],
  });
});

test.each<[body: object, param: string, message: string]>([
  [{}, 'inputs', 'inputs is required'],
  [{ inputs: [] }, 'inputs', 'inputs must NOT have fewer than 1 items'],
  [{ inputs: [{ ...textsOf('x'), datatype: 'FP32' }] }, 'inputs.0.datatype', 'must be "BYTES"'],
  [{ inputs: [textsOf(5)] }, 'inputs.0.data.0', 'must be string'],
  [{ inputs: [{ ...textsOf('x'), shape: [2] }] }, 'inputs.0.shape', 'is [2], and data has 1 texts'],
  [{ inputs: [textsOf('x')], parameters: { top_p: 2 } }, 'parameters.top_p', 'must be <= 1'],
  [{ inputs: [textsOf('x')], parameters: { prompt: 'y' } }, 'parameters.prompt', 'the texts are the prompts'],
  [{ inputs: [textsOf('x')], surprise: 1 }, 'surprise', 'is not a known field'],
  [{ inputs: [textsOf('x', 'y'.repeat(5000))] }, 'inputs.0.data.1.prompt', 'tokens'],
])('refuses %j', async (body, param, message) => {
  const { status, answer } = await ask(body);
  expect([status, answer]).toMatchObject([
    400,
    { error: expect.stringContaining(message), code: expect.any(String), param },
  ]);
  expect(server.engine.requests).toEqual([]);
});

describe('texts behind the JSON, as KServe clients send tensors', () => {
  const tensor = (...texts: string[]): Buffer =>
    Buffer.concat(
      texts.flatMap((text) => {
        const length = Buffer.alloc(4);
        length.writeUInt32LE(Buffer.byteLength(text));
        return [length, Buffer.from(text)];
      }),
    );
  const send = async (json: object, tail: Buffer, jsonBytes?: string) => {
    const head = Buffer.from(JSON.stringify(json));
    const response = await fetch(server.url + path, {
      method: 'POST',
      body: Buffer.concat([head, tail]),
      headers: {
        'content-type': 'application/octet-stream',
        'inference-header-content-length': jsonBytes ?? String(head.length),
      },
    });
    return { status: response.status, answer: await response.json() };
  };
  const inputOf = (bytes: number, count = 1): object => ({
    ...{ name: 'text_input', shape: [count], datatype: 'BYTES' },
    parameters: { binary_data_size: bytes },
  });

  test('are answered as those in it', async () => {
    const texts = ['Zürich', ''];
    const tail = tensor(...texts);
    const inputs = [inputOf(tail.length, 2)];
    const parameters = { temperature: 0, seed: 5 };
    expect(await send({ inputs, parameters }, tail)).toMatchObject({
      status: 200,
      answer: { outputs: [{ shape: [2], data: ['Hi!', 'Hi!'] }] },
    });
    await ask({ inputs: [textsOf(...texts)], parameters });
    const [first, second, ...others] = server.engine.requests.map((each) => ({ ...each, id: '' }));
    expect(others).toEqual([first, second]);
  });

  const one = tensor('x');
  test.each<[json: object, tail: Buffer, jsonBytes: string | undefined, message: string]>([
    [{ inputs: [inputOf(9)] }, one, undefined, 'inputs.0 has fewer bytes than its binary_data_size'],
    [{ inputs: [inputOf(2)] }, one, undefined, 'is longer than what is left of its bytes'],
    [{ inputs: [inputOf(5)] }, tensor('xyz'), undefined, 'is longer than what is left of its bytes'],
    [{ inputs: [inputOf(5)] }, tensor('x', 'y'), undefined, '5 bytes after the JSON belong to no input'],
    [{ inputs: [inputOf(-1)] }, one, undefined, 'inputs.0 has fewer bytes'],
    [{ inputs: [{ ...inputOf(5), data: ['x'] }] }, one, undefined, 'has data and binary_data_size'],
    [{ inputs: [inputOf(4 * 257)] }, Buffer.alloc(4 * 257), undefined, 'has more than 256 texts'],
    [{ inputs: [inputOf(5)] }, one, '9999', 'Inference-Header-Content-Length is "9999"'],
    [{ inputs: [inputOf(5)] }, one, 'x', 'Inference-Header-Content-Length is "x"'],
    [{ inputs: [inputOf(5, 2)] }, one, undefined, 'is [2], and data has 1 texts'],
    [{ inputs: 5 }, one, undefined, '5 bytes after the JSON belong to no input'],
  ])('are refused: %j', async (json, tail, jsonBytes, message) => {
    expect(await send(json, tail, jsonBytes)).toMatchObject({
      status: 400,
      answer: { error: expect.stringContaining(message), code: 'invalid_request' },
    });
    expect(server.engine.requests).toEqual([]);
  });
});

/** As tritonclient reads them: text and number of bytes of each, then the texts. */
function readTensors(tail: Buffer, sizes: readonly number[]): string[][] {
  let at = 0;
  return sizes.map((bytes) => {
    const texts: string[] = [];
    for (const end = at + bytes; at < end;) {
      const length = tail.readUInt32LE(at);
      texts.push(tail.toString('utf8', at + 4, at + 4 + length));
      at += 4 + length;
    }
    return texts;
  });
}

describe('outputs behind the JSON', () => {
  const asked = { inputs: [textsOf('x', 'y')] };
  const thought = { enable_thinking: true };
  const binary = { binary_data: true };
  const said = ['I look.\n', 'I look.\n'];
  const why = ['Which city?', 'Which city?'];

  test.each<[more: object, listed: object, behind: readonly (readonly string[])[]]>([
    [{ parameters: { binary_data_output: true } }, {}, [said, why]],
    [{ outputs: [{ name: 'text_output', parameters: binary }] }, {}, [said]],
    [{ outputs: [{ name: 'reasoning', parameters: binary }] }, {}, [why]],
    [
      { outputs: [{ name: 'reasoning' }, { name: 'text_output', parameters: binary }] },
      { reasoning: why },
      [said],
    ],
    [
      {
        parameters: { binary_data_output: true },
        outputs: [{ name: 'reasoning', parameters: { binary_data: false } }, { name: 'text_output' }],
      },
      { reasoning: why },
      [said],
    ],
    [
      { parameters: { binary_data_output: false }, outputs: [{ name: 'text_output' }] },
      { text_output: said },
      [],
    ],
  ])('with %j', async (more, listed, behind) => {
    server.script = scriptOf(
      ScriptedServer.markers.thinkBegin,
      'Which city?',
      ScriptedServer.markers.thinkEnd,
      'I look.\n',
    );
    const parameters = { ...thought, ...('parameters' in more ? (more.parameters as object) : {}) };
    const response = await server.post(path, { ...asked, ...more, parameters });
    const body = Buffer.from(await response.arrayBuffer());
    const header = response.headers.get('inference-header-content-length');
    const type = response.headers.get('content-type');
    const isBinary = behind.length > 0;
    expect([response.status, type]).toEqual([
      200,
      isBinary ? 'application/octet-stream' : 'application/json; charset=utf-8',
    ]);
    const jsonBytes = header === null ? body.length : Number(header);
    const { outputs } = JSON.parse(body.toString('utf8', 0, jsonBytes)) as {
      outputs: {
        name: string;
        shape: number[];
        data?: string[];
        parameters?: { binary_data_size: number };
      }[];
    };
    const inJson = outputs.filter(({ data }) => data !== undefined).map(({ name, data }) => [name, data]);
    expect(Object.fromEntries(inJson)).toEqual(listed);
    const sizes = outputs.flatMap(({ parameters: own }) => own?.binary_data_size ?? []);
    expect(readTensors(body.subarray(jsonBytes), sizes)).toEqual(behind);
    expect(outputs.every(({ shape }) => shape.join() === '2')).toBe(true);
  });
});

test('errors are a text, of exactly the type that KServe’s client reads', async () => {
  for (const [url, code] of [
    ['/v2/models/other/infer', 'model_not_found'],
    ['/v2/models/tiny/surprise', 'route_not_found'],
  ] as const) {
    const response = await server.post(url, { inputs: [textsOf('x')] });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(await response.json()).toEqual({
      error: expect.any(String),
      code,
      param: code === 'model_not_found' ? 'model' : null,
    });
  }
});

test('takes the name of a model that KServe clients repeat in the body', async () => {
  const body = { model_name: 'small', inputs: [textsOf('x')] };
  expect(await ask(body)).toMatchObject({ status: 200, answer: { model_name: 'tiny' } });
  expect(await ask({ ...body, model_name: 'other' })).toMatchObject({
    status: 404,
    answer: { error: expect.stringContaining('"other"'), code: 'model_not_found', param: 'model' },
  });
});

test('a model that is not served is not found, and one that is not loaded not ready', async () => {
  expect((await ask({ inputs: [textsOf('x')] }, 'other')).status).toBe(404);
  const unserved = await ScriptedServer.start({ serving: false });
  expect((await unserved.post(path, { inputs: [textsOf('x')] })).status).toBe(503);
  await unserved.stop();
});
