import { expect, test } from '@jest/globals';
import { ActivatorError, errorEvent } from './activator-error.js';

const error = new ActivatorError('model_not_ready', 'try again', 10);
const refusal = { message: 'try again', param: null, code: 'model_not_ready' };

test.each([
  ['/v1/chat/completions', { error: { ...refusal, type: 'server_error' } }, 'data: '],
  [
    '/v1/messages?beta=true',
    { type: 'error', error: { ...refusal, type: 'overloaded_error' } },
    'event: error\n',
  ],
])('clients of %s read it as the runtime’s errors', (path, body, beginning) => {
  expect([error.status, error.body(path)]).toEqual([503, body]);
  expect(errorEvent(path, error.body(path))).toMatch(new RegExp(`^${beginning}`));
  expect(errorEvent(path, error.body(path))).toContain(`data: ${JSON.stringify(error.body(path))}\n\n`);
});
