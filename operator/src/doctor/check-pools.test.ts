import { expect, test } from '@jest/globals';
import { checkPools } from './check-pools.js';
import type { ClusterFacts, OperatorFacts } from './facts.js';
import { clusterFacts, forbidden, operatorFacts, read, serviceFacts } from './facts.fixture.js';

const served = read(['inference.networking.k8s.io']);
const operators = (endpointPickerImage: string | null) => {
  const facts: OperatorFacts = operatorFacts();
  return read([{ ...facts, settings: { ...facts.settings, endpointPickerImage } }]);
};
const service = (reason: string, status = 'True') =>
  serviceFacts({
    metadata: { name: 'chat', namespace: 'team' },
    spec: { routing: { host: 'chat.example.org', backend: 'inferencePool' } },
    status: { conditions: [{ type: 'Routed', status, reason, message: `It is ${reason}.` }] },
  });
const plain = serviceFacts({ metadata: { name: 'plain', namespace: 'team' }, spec: { routing: {} } });
const chat = read([service('InferencePool'), plain]);

test.each<[string, Partial<ClusterFacts>, string[]]>([
  ['nobody wants one', { services: read([plain]) }, []],
  ['services cannot be read', { services: forbidden }, []],
  [
    'the cluster has none',
    { services: chat, operators: operators('picker:1') },
    [
      'warning: the cluster does not know InferencePool, which team/chat asks for: requests go to the Service',
    ],
  ],
  [
    'an operator could make some, and the cluster has none',
    { services: read([plain]), operators: operators('picker:1') },
    ['warning: the operator has an image of an endpoint picker, and the cluster does not know InferencePool'],
  ],
  [
    'no operator has a picker',
    { services: chat, groups: served, operators: operators(null) },
    [
      'warning: no operator has an image of an endpoint picker, and team/chat asks for an InferencePool: requests go to the Service',
    ],
  ],
  [
    'completions go to one',
    { services: chat, groups: served, operators: operators('picker:1') },
    ['ok: team/chat: It is InferencePool.'],
  ],
  [
    'the gateway refuses it',
    {
      services: read([service('InferencePoolRefused')]),
      groups: served,
      operators: operators('picker:1'),
    },
    ['warning: team/chat: Routed=True InferencePoolRefused'],
  ],
  [
    'there is no route',
    { services: read([service('NoGateway', 'False')]), groups: served, operators: operators('picker:1') },
    [],
  ],
])('where %s', (_, change, lines) => {
  const found = checkPools(clusterFacts(change)).map(({ level, message }) => `${level}: ${message}`);
  expect(found).toEqual(lines);
});
