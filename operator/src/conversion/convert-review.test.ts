import { describe, expect, test } from '@jest/globals';
import { convertReview, MalformedReviewError } from './convert-review.js';

const review = (request: unknown): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request,
});
const service = (version: string, spec: object) => ({
  apiVersion: `llmservice.dev/${version}`,
  kind: 'LlmService',
  metadata: { name: 'a', uid: 'u', labels: { a: 'b' } },
  spec,
});
const desiredAPIVersion = 'llmservice.dev/v1beta1';

describe('a review', () => {
  test('is answered with its objects in the version that is asked for, in order, with the same metadata', () => {
    const objects = [service('v1alpha1', { stop: true }), service('v1beta1', { suspend: false })];
    expect(convertReview(review({ uid: '7', desiredAPIVersion, objects }))).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: {
        uid: '7',
        convertedObjects: [service('v1beta1', { suspend: true }), service('v1beta1', { suspend: false })],
        result: { status: 'Success' },
      },
    });
  });

  test.each([
    ['another version', 'llmservice.dev/v2', [], 'llmservice.dev/v2'],
    ['an object of another version', desiredAPIVersion, [service('v9', {})], 'llmservice.dev/v9'],
    [
      'another kind',
      desiredAPIVersion,
      [{ ...service('v1alpha1', {}), kind: 'Pod' }],
      '"Pod" is not LlmService',
    ],
  ])('for %s fails with the reason', (_, desired, objects, message) => {
    expect(convertReview(review({ uid: '7', desiredAPIVersion: desired, objects }))).toMatchObject({
      response: { uid: '7', result: { status: 'Failed', message: expect.stringContaining(message) } },
    });
  });

  test.each([
    [null, 'no ConversionReview'],
    [{ ...review({}), apiVersion: 'apiextensions.k8s.io/v1beta1' }, 'no ConversionReview'],
    [review(null), 'request is required'],
    [review({ objects: [] }), 'request.uid'],
    [review({ uid: 'a', objects: [1] }), 'request.objects'],
  ])('that is none, %j, is refused by field', (body, message) => {
    expect(() => convertReview(body)).toThrow(MalformedReviewError);
    expect(() => convertReview(body)).toThrow(message);
  });
});
