// Traces of a real replica: its spans reach an endpoint, by the end of the drain at the latest.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { OtlpReceiver } from '../../runtime/src/observe/otlp-receiver.fixture.js';
import { stop } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let receiver: OtlpReceiver;
let replica: ReplicaProcess;
beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_SERVICE_NAME: 'demo-service' };
  const engine = { speculative: { method: 'mtp', tokens: 3 } };
  replica = await ReplicaProcess.start({ uri: demoCheckpoint, engine, env });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  await receiver.stop();
});

test('a request is a span with its phases, one after the other', async () => {
  const response = await replica.post('/v1/completions', { prompt: 'The capital of', max_tokens: 16 });
  expect(response.status).toBe(200);
  const accepted = await replica.metric('vllm:spec_decode_num_accepted_tokens_total');
  expect(accepted).toBeGreaterThan(0);
  await stop(replica.child);
  const named = (name: string) => receiver.spans.find((span) => span.name === name)!;
  const root = named('text_completion demo');
  expect(receiver.spans).toHaveLength(4);
  expect(root.resource).toMatchObject({ 'service.name': 'demo-service' });
  expect(root.attributes).toMatchObject({
    'gen_ai.response.id': response.headers.get('x-request-id'),
    'gen_ai.request.max_tokens': 16,
    'http.response.status_code': 200,
    'llmservice.usage.accepted_draft_tokens': accepted,
  });
  const phases = ['queue', 'prefill', 'decode'].map(named);
  const times = [root.startMs, ...phases.flatMap(({ startMs, endMs }) => [startMs, endMs]), root.endMs];
  times.slice(1).forEach((time, i) => expect(time).toBeGreaterThanOrEqual(times[i]! - 0.01));
  for (const phase of phases) expect(phase.parentId).toBe(root.spanId);
});
