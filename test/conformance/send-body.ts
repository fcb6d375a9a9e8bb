// Sends a body to the route that takes its kind, in the way of its clients: files as forms, batches of files that are there.

import { routeTable, type Route } from '../../runtime/src/http/api/route-table.js';
import type { ScriptedServer } from '../../runtime/src/http/scripted-server.fixture.js';
import type { ClientKind } from './client-fields.js';

const routes: Readonly<Record<ClientKind, Pick<Route, 'path'>>> = {
  ...routeTable,
  files: routeTable.uploadFile,
  batches: routeTable.createBatch,
};

/** Stand in bodies for the ids of two files. */
export const uploads = { one: 'the id of a file', other: 'the id of another file' } as const;

/** Texts of a form by the names that OpenAI's clients give them. */
export function formOf(body: object, within: string | null = null): [name: string, text: string][] {
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    const path = within === null ? name : `${within}[${name}]`;
    if (value === null || value === undefined) return [];
    if (typeof value === 'object') return formOf(value, path);
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
}

export class BodySender {
  readonly #ids = new Map<string, string>();

  constructor(private readonly server: ScriptedServer) {}

  /** Stores the files that bodies name. */
  async upload(): Promise<void> {
    for (const stand of Object.values(uploads)) {
      const stored = await this.send('files', { purpose: 'batch', file: stand });
      this.#ids.set(stand, ((await stored.json()) as { id: string }).id);
    }
  }

  send(kind: ClientKind, body: object): Promise<Response> {
    const { path } = routes[kind];
    if (kind !== 'files') return this.server.post(path, this.withIds(body));
    const form = new FormData();
    for (const [name, text] of formOf(body))
      form.set(name, name === 'file' ? new File([text], 'in.jsonl') : text);
    return fetch(this.server.url + path, { method: 'POST', body: form });
  }

  private withIds(body: object): object {
    const named = 'input_file_id' in body ? this.#ids.get(String(body.input_file_id)) : undefined;
    return named === undefined ? body : { ...body, input_file_id: named };
  }
}
