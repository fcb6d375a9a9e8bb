// A line of the accounting log for each request that took tokens, when it has ended. The replica that answered writes one too, in
// its service's folder: sums are of the one or of the other.

import type { ServerResponse } from 'node:http';
import type { AccountingLog } from '@llmservice/crds/accounting';
import type { Moment } from '@llmservice/crds/keys';
import type { RequestCharge } from './request-charge.js';

/** A request whose charge is closed. */
export interface EndedRequest {
  readonly id: string;
  /** Id of its key; null: none was asked for. */
  readonly key: string | null;
  readonly path: string;
  readonly model: string;
  readonly generates: boolean;
  readonly charge: Pick<RequestCharge, 'used' | 'isWhole'>;
  readonly response: Pick<ServerResponse, 'statusCode' | 'writableFinished' | 'destroyed'>;
}

export class RouterAccounting {
  /** @param gateway NAMESPACE/NAME */
  constructor(
    private readonly log: Pick<AccountingLog, 'add'>,
    private readonly gateway: string,
    private readonly clock: () => Moment,
  ) {}

  ended(request: EndedRequest): void {
    const { id, key, path: route, model, generates, charge } = request;
    const { promptTokens, completionTokens, textTokens } = charge.used;
    if (promptTokens + completionTokens + textTokens === 0) return;
    this.log.add({
      ...{ time: new Date(this.clock().unixMs).toISOString(), id, key, route, model },
      ...{ promptTokens, completionTokens, textTokens },
      finish: generates ? [finishOf(request)] : [],
      gateway: this.gateway,
    });
  }
}

function finishOf({ charge, response }: EndedRequest): string {
  if (response.destroyed && !response.writableFinished) return 'abort';
  return charge.isWhole && response.statusCode < 500 ? 'answered' : 'error';
}
