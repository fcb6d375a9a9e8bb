// A client that counts and refuses requests, to look at and to disturb an operator.

import { KubeClient, type KubeRequest } from '../../operator/src/kube/client.js';

export class WatchedClient extends KubeClient {
  readonly writes: string[] = [];
  /** Throws to make a request fail before it is sent. */
  before: (request: KubeRequest) => void = () => undefined;

  override open(request: KubeRequest): ReturnType<KubeClient['open']> {
    this.before(request);
    if (request.method !== 'GET' && !request.path.includes('/leases'))
      this.writes.push(`${request.method} ${request.path}`);
    return super.open(request);
  }
}
