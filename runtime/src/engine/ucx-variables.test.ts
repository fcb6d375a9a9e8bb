import { expect, test } from '@jest/globals';
import { ucxVariables } from './ucx-variables.js';

const alone = { nodes: null, disaggregation: null, tensor: 1 };
const nodes = {
  ...{ index: 0, count: 2, leader: 'a', port: 7070, name: 'a', waitMs: 1, identity: {} },
};

test('UCX takes ports behind those that are listened on, and before those of HTTP', () => {
  expect(ucxVariables(alone)).toEqual({});
  const prefill = { role: 'prefill', transferPort: 8040 } as const;
  expect(ucxVariables({ ...alone, disaggregation: prefill, tensor: 2 })).toMatchObject({
    UCX_TCP_PORT_RANGE: '8042-8079',
    UCX_HANDLE_ERRORS: 'none',
  });
  const decode = { role: 'decode', hosts: ['a'], port: 8030, minTokens: 512 } as const;
  expect(ucxVariables({ ...alone, disaggregation: decode })).toMatchObject({
    UCX_TCP_PORT_RANGE: '8041-8079',
  });
  expect(ucxVariables({ ...alone, nodes })).toMatchObject({ UCX_TCP_PORT_RANGE: '7071-7085' });
});
