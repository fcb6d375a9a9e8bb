// A server whose requests need keys, with a clock that its test sets; and the lines that it accounts.

import { expect } from '@jest/globals';
import { KeySet } from '@llmservice/crds/keys';
import type { AccountingRecord } from '@llmservice/crds/accounting';
import { configuredKey } from '../../../../crds/src/keys/configured-key.fixture.js';
import { momentOf } from '../../../../crds/src/keys/moment.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';

export const keys = new KeySet([
  configuredKey('free'),
  configuredKey('small', { tokensPerMinute: 60 }),
  configuredKey('single', { concurrency: 1 }),
  configuredKey('urgent', { priority: -3, weight: 4 }),
  configuredKey('one', { cacheGroup: 'both' }),
  configuredKey('two', { cacheGroup: 'both' }),
]);
export const bearer = (id: string) => ({ authorization: `Bearer secret-${id}` });
export const body = { prompt: 'abcdefghi', max_tokens: 20 };

/** What one server accounts, and its clock. */
class Ledger {
  readonly records: AccountingRecord[] = [];
  now = Date.parse('2026-01-01T00:00:00Z');

  add(record: AccountingRecord): void {
    this.records.push(record);
  }

  /** Waits for the lines of as many requests. */
  async accounted(count: number): Promise<AccountingRecord[]> {
    for (let i = 0; i < 2_500 && this.records.length < count; i++) await tick();
    expect(this.records).toHaveLength(count);
    return this.records;
  }
}

export interface KeyedServer {
  readonly server: ScriptedServer;
  readonly ledger: Ledger;
}

export async function startKeyedServer(access: Partial<Access> = {}): Promise<KeyedServer> {
  const ledger = new Ledger();
  const clock = () => momentOf(ledger.now);
  const server = await ScriptedServer.start({ access: { keys, log: ledger, clock, ...access } });
  return { server, ledger };
}

export const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

export async function metric(server: ScriptedServer, name: string): Promise<number> {
  const text = await (await server.get('/metrics')).text();
  return Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1]);
}
