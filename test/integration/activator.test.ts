// The activator as a process, against a real API server, with a small server in the pods' place.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { activatorName, labels } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { ActivatorProcess } from './activator-process.js';
import { FakeReplica } from './fake-replica.js';
import { grantActivatorRole } from './operator-role.js';
import { OperatorProcess } from './operator-process.js';
import { World } from './operator-world.js';
import { makeReplicaPod } from './replica-pod.js';
import { modelRoute, RouterProcess } from './router-process.js';

jest.setTimeout(180_000);

let world: World;
let replica: FakeReplica;
/** Of the test that runs: ended with it, however it ends. */
const started: { stop(): Promise<void> }[] = [];

function stopAfter<T extends { stop(): Promise<void> }>(process: T): T {
  started.push(process);
  return process;
}

const startActivator = async (settings?: NodeJS.ProcessEnv): Promise<ActivatorProcess> =>
  stopAfter(await ActivatorProcess.start(world.api, settings));

beforeAll(async () => {
  world = await World.start();
  await grantActivatorRole(world);
  world.s3.put('models', 'llama', llamaCheckpoint());
}, 180_000);
beforeEach(async () => {
  replica = await FakeReplica.start();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
  replica.stop();
});
afterAll(() => world.stop());

/** A pod of a service that answers by the fake replica. */
const makeReplica = (service: string, name: string): Promise<void> =>
  makeReplicaPod(world, service, name, replica.port);

describe('50 requests during the wake-up, and the operator is killed', () => {
  test('are all answered, in their order', async () => {
    const first = stopAfter(OperatorProcess.start(world.api, 'operator-a'));
    const activator = await startActivator();
    await world.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'activator-1', namespace: 'default', labels: { [labels.name]: activatorName } },
      spec: { containers: [{ name: 'activator', image: 'x' }] },
    });
    const ready = [{ type: 'Ready', status: 'True' }];
    await world.setPodStatus('activator-1', { phase: 'Running', podIP: '192.0.2.11', conditions: ready });
    await world.createService('sleepy', {
      model: world.model('models/llama/'),
      scaling: { idleAfterSeconds: 1 },
      resources: { limits: { memory: '1Gi' } },
    });
    await world.deployment('sleepy');
    await makeReplica('sleepy', 'sleepy-1');
    await eventually('sleep', async () => (await world.deployment('sleepy')).spec?.replicas === 0, 90_000);
    await world.condition('sleepy', 'Ready', 'True', 'Asleep');
    await world.delete(resources.pods, 'sleepy-1');

    const sent = [];
    for (let id = 0; id < 50; id += 1) {
      if (id === 1) await first.stop('SIGKILL');
      sent.push(await activator.hold('sleepy', { id }));
    }
    stopAfter(OperatorProcess.start(world.api, 'operator-b'));
    await eventually('the wake-up', async () => (await world.deployment('sleepy')).spec?.replicas === 1);
    expect(await world.get(resources.endpointSlices, 'sleepy-activator')).not.toBeNull();
    await sleep(2_000);
    await makeReplica('sleepy', 'sleepy-2');
    const answers = await Promise.all(sent.map(({ answer }) => answer));
    expect(answers.map(({ status, body }) => `${String(status)} ${body}`)).toEqual(
      sent.map((_, id) => `200 {"id":${String(id)}}`),
    );
    expect(replica.asked.map(({ body }) => body.id)).toEqual(sent.map((_, id) => id));
    await eventually(
      'no endpoints',
      async () => !(await world.get(resources.endpointSlices, 'sleepy-activator')),
    );
  });
});

describe('a request', () => {
  let activator: ActivatorProcess;
  let count = 0;
  let name: string;

  beforeEach(async () => {
    count += 1;
    name = `held-${String(count)}`;
    activator = await startActivator({ MAX_HELD_PER_SERVICE: '3', GRACE_SECONDS: '3' });
    await create(600);
  });

  const create = async (wakeTimeoutSeconds: number): Promise<void> => {
    const scaling = { idleAfterSeconds: 3600, wakeTimeoutSeconds };
    await world.createService(name, { model: { uri: 's3://b/m/' }, scaling });
    // Known to the activator once it is held, or was.
    await eventually('it is known', async () => {
      const probe = await activator.send(name, {}, '/');
      const answer: { status?: number } = {};
      probe.answer.then(
        ({ status }) => (answer.status = status),
        () => undefined,
      );
      await eventually(
        'an answer, or none yet',
        async () => answer.status !== undefined || (await activator.metric('llmservice_activator_held')) > 0,
      );
      probe.request.destroy();
      return answer.status !== 404;
    });
    await eventually(
      'nothing is held',
      async () => (await activator.metric('llmservice_activator_held')) === 0,
    );
  };
  /** The code, which is beside the error's text on the routes of KServe's second protocol. */
  const error = (body: string): unknown => {
    const { error: reported, code } = JSON.parse(body) as { error: string | { code: string }; code?: string };
    return typeof reported === 'string' ? code : reported.code;
  };

  test('for nobody is refused, as the runtime refuses', async () => {
    const { status, body } = await (await activator.send('nobody', {})).answer;
    expect(status).toBe(404);
    expect(JSON.parse(body)).toEqual({
      error: {
        type: 'invalid_request_error',
        message: 'no service has the host nobody.default.svc',
        param: null,
        code: 'service_not_found',
      },
    });
  });

  test('may have a whole URL, as proxies send it; without a path it is refused, and harms no other', async () => {
    const whole = await activator.hold(name, { id: 1 }, `http://${name}.default.svc/v1/completions`);
    const { status, body } = await (await activator.send(name, {}, '*')).answer;
    expect([status, error(body)]).toEqual([400, 'invalid_request']);
    await makeReplica(name, `${name}-1`);
    expect(await whole.answer).toMatchObject({ status: 200, body: '{"id":1}' });
  });

  test('through a gateway’s router is held and wakes the service as any other', async () => {
    const url = `http://${name}.default.svc:${String(activator.port)}`;
    const router = stopAfter(await RouterProcess.start({ routes: [modelRoute('chat', url)] }));
    const asked = { method: 'POST', body: JSON.stringify({ model: 'chat', id: 7 }) };
    const answer = fetch(`${router.url}/v1/completions`, asked);
    await eventually('it is held', async () => (await activator.metric('llmservice_activator_held')) === 1);
    await makeReplica(name, `${name}-1`);
    expect(await (await answer).json()).toMatchObject({ id: 7 });
  });

  test('of who only looks whether it is well wakes nothing', async () => {
    for (const path of ['/v2/health/ready', '/healthz/ready', '/health', '/metrics']) {
      const { status, body } = await (await activator.send(name, {}, path, 'GET')).answer;
      expect([path, status, error(body)]).toEqual([path, 503, 'model_not_ready']);
    }
    expect(await activator.metric('llmservice_activator_held')).toBe(0);
  });

  test('is passed to the operator in the annotation', async () => {
    const annotation = async (): Promise<string | undefined> =>
      (await world.get(resources.llmServices, name))?.metadata.annotations?.[
        'llmservice.dev/last-request-at'
      ];
    await eventually('the time', async () => Date.now() - Date.parse((await annotation()) ?? '') < 60_000);
  });

  test('beyond the bound is refused at once, and a place that is left is free', async () => {
    const held = [];
    for (let id = 0; id < 3; id += 1) held.push(await activator.hold(name, { id }));
    const { status, headers, body } = await (await activator.send(name, { id: 3 })).answer;
    expect([status, headers['retry-after'], error(body)]).toEqual([503, '5', 'queue_full']);
    held[1]?.request.destroy();
    await eventually('a place', async () => (await activator.metric('llmservice_activator_held')) === 2);
    await activator.hold(name, { id: 4 });
    await makeReplica(name, `${name}-1`);
    await eventually('three answers', () => replica.asked.length === 3);
    expect(replica.asked.map(({ body: { id } }) => id)).toEqual([0, 2, 4]);
  });

  test('waits no longer than the service says', async () => {
    name = `${name}-short`;
    await create(2);
    const { status, headers, body } = await (await activator.send(name, { id: 1 })).answer;
    expect([status, headers['retry-after'], error(body)]).toEqual([503, '10', 'model_not_ready']);
  });

  test('that streams is kept alive with comments, then gets the pod’s events as they come', async () => {
    const sent = await activator.hold(name, { id: 1, stream: true });
    const [response] = (await once(sent.request, 'response')) as [
      NodeJS.ReadableStream & { statusCode: number },
    ];
    expect(response.statusCode).toBe(200);
    replica.reply = (answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('data: 1\n\n');
      setTimeout(() => answer.end('data: [DONE]\n\n'), 200);
    };
    await makeReplica(name, `${name}-1`);
    const { headers, body } = await sent.answer;
    expect(headers['content-type']).toContain('text/event-stream');
    expect(body).toMatch(/^(: waiting for the model\n\n)+data: 1\n\ndata: \[DONE\]\n\n$/);
  });

  test('that streams gets a refusal, and of a pod that dies, as an event', async () => {
    const refused = await activator.hold(name, { id: 1, stream: true });
    const broken = await activator.hold(name, { id: 2, stream: true });
    const whole = await activator.hold(name, { id: 3 });
    await Promise.all([refused, broken].map(({ request }) => once(request, 'response')));
    replica.reply = (answer, { body: { id } }) => {
      if (id === 3) answer.destroy();
      else if (id === 1) answer.writeHead(400).end('{"error":{"code":"context_length_exceeded"}}');
      else {
        answer.writeHead(200, { 'content-type': 'text/event-stream' });
        answer.write('data: 1\n\n', () => answer.destroy());
      }
    };
    await makeReplica(name, `${name}-1`);
    expect((await refused.answer).body).toMatch(
      /\ndata: \{"error":\{"code":"context_length_exceeded"\}\}\n\n$/,
    );
    const { body } = await broken.answer;
    expect(body).toMatch(/\ndata: 1\n+data: \{"error":.*"code":"upstream_failed"\}\}\n\n$/);
    const { status, headers, body: refusal } = await whole.answer;
    expect([status, headers['retry-after'], error(refusal)]).toEqual([502, '1', 'upstream_failed']);
  });

  test('whose client goes away is aborted at the pod', async () => {
    const ended = new Promise((resolve) => {
      replica.reply = (answer) => answer.once('close', resolve);
    });
    const sent = await activator.hold(name, { id: 1 });
    await makeReplica(name, `${name}-1`);
    await eventually('it is at the pod', () => replica.asked.length === 1);
    sent.request.destroy();
    await ended;
  });

  test('is lost with an activator that is killed, and with no other; sent again it is answered', async () => {
    const other = await startActivator();
    const lost = await activator.hold(name, { id: 1 });
    const kept = await other.hold(name, { id: 2 });
    activator.child.kill('SIGKILL');
    await expect(lost.answer).rejects.toThrow('socket hang up');
    const again = await other.hold(name, { id: 1 });
    await makeReplica(name, `${name}-1`);
    for (const { answer } of [kept, again]) expect((await answer).status).toBe(200);
    expect(replica.asked.map(({ body: { id } }) => id)).toEqual([2, 1]);
  });

  test('that is held at SIGTERM is answered: by the pod within its grace', async () => {
    const patient = await startActivator({ GRACE_SECONDS: '60' });
    const sent = await patient.hold(name, { id: 1 });
    patient.child.kill('SIGTERM');
    await makeReplica(name, `${name}-1`);
    expect(await sent.answer).toMatchObject({ status: 200, body: '{"id":1}' });
    await eventually('its end', () => patient.child.exitCode === 0);
  });

  test('that is held at SIGTERM is answered: else with what to do', async () => {
    const stream = await activator.hold(name, { id: 1, stream: true });
    await once(stream.request, 'response');
    const sent = await activator.hold(name, { id: 2 });
    activator.child.kill('SIGTERM');
    const { status, headers, body } = await sent.answer;
    expect([status, headers['retry-after'], error(body)]).toEqual([503, '1', 'draining']);
    expect((await stream.answer).body).toMatch(/\ndata: \{"error":.*"code":"draining"\}\}\n\n$/);
    await eventually('its end', () => activator.child.exitCode === 0);
  });
});
