// Asks the API server who may what, one question for each verb, a few at a time.

import type { KubeClient } from '../kube/client.js';
import type { DeniedRequest } from './operator-rules.js';

interface Question {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly purpose?: string;
}

const atOnce = 8;
const path = '/apis/authorization.k8s.io/v1';

/**
 * @param namespace empty: all
 * @param account whom to ask about; null: the person asking
 * @throws ApiError
 */
export async function deniedRequests(
  client: KubeClient,
  questions: readonly Question[],
  namespace: string,
  account: { readonly namespace: string; readonly name: string } | null,
): Promise<DeniedRequest[]> {
  const denied: DeniedRequest[] = [];
  for (let first = 0; first < questions.length; first += atOnce) {
    const some = questions.slice(first, first + atOnce);
    const answers = await Promise.all(some.map((question) => mayAsk(client, question, namespace, account)));
    for (const [index, { group, resource, verb, purpose = '' }] of some.entries()) {
      if (answers[index] !== true) denied.push({ group, resource, verb, purpose });
    }
  }
  return denied;
}

async function mayAsk(
  client: KubeClient,
  { group, resource: named, verb }: Question,
  namespace: string,
  account: { readonly namespace: string; readonly name: string } | null,
): Promise<boolean> {
  const [resource, subresource] = named.split('/');
  const resourceAttributes = { namespace, group, verb, resource, subresource };
  const kind = account === null ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const whom =
    account === null
      ? {}
      : {
          user: `system:serviceaccount:${account.namespace}:${account.name}`,
          groups: [
            ...['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`],
            'system:authenticated',
          ],
        };
  const { status } = await client.request<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: `${path}/${kind.toLowerCase()}s`,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind,
      spec: { ...whom, resourceAttributes },
    },
  });
  return status.allowed;
}
