// What the API server asks of a conversion webhook (ConversionReview of apiextensions.k8s.io/v1), and the answer. Pure. One
// object that cannot be converted fails the review, as the API server expects, with the reason; what is no review is
// refused.

import { api, convertService, serviceVersionOf } from '@llmservice/crds';

export class MalformedReviewError extends Error {
  override readonly name = 'MalformedReviewError';
  readonly code = 'MalformedReview';
}

const reviewVersion = 'apiextensions.k8s.io/v1';
const reviewKind = 'ConversionReview';

/** @param review parsed JSON @throws MalformedReviewError naming the field that is wrong */
export function convertReview(review: unknown): object {
  const { uid, desired, objects } = parse(review);
  const answer = (response: object): object => ({
    apiVersion: reviewVersion,
    kind: reviewKind,
    response: { uid, ...response },
  });
  try {
    const version = serviceVersionOf(desired);
    const convertedObjects = objects.map((object) => {
      if (object['kind'] !== api.kind)
        throw new Error(`kind ${JSON.stringify(object['kind'])} is not ${api.kind}`);
      return convertService(object, version);
    });
    return answer({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    return answer({ result: { status: 'Failed', message: (error as Error).message } });
  }
}

type Json = Readonly<Record<string, unknown>>;

function parse(review: unknown): {
  readonly uid: string;
  readonly desired: unknown;
  readonly objects: readonly Json[];
} {
  if (!isObject(review) || review['kind'] !== reviewKind || review['apiVersion'] !== reviewVersion)
    throw new MalformedReviewError(`the body is no ${reviewKind} of ${reviewVersion}`);
  const { request } = review;
  if (!isObject(request)) throw new MalformedReviewError('request is required, and is an object');
  const { uid, desiredAPIVersion: desired, objects } = request;
  if (typeof uid !== 'string') throw new MalformedReviewError('request.uid is required, and is a string');
  if (!Array.isArray(objects) || !objects.every(isObject))
    throw new MalformedReviewError('request.objects is required, and is a list of objects');
  return { uid, desired, objects };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
