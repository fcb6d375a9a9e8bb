// Requests of batches, answered by this replica's own routes: as those of clients are, but for their keys, of which a batch
// has the id alone.

import type { Express } from 'express';
import { makeApp } from './app.js';
import { keysByName, rowSender, type SendRow } from './batches/send-row.js';
import type { ServerParts } from './replica/server-parts.js';

/** @param parts of the replica, once there are requests */
export function batchSender(parts: () => ServerParts): SendRow {
  let app: Express | null = null;
  return rowSender((request, response) => {
    app ??= makeApp(withKeysByName(parts()));
    app(request, response);
  });
}

function withKeysByName(parts: ServerParts): ServerParts {
  const { access } = parts;
  return { ...parts, access: { ...access, keys: access.keys === null ? null : keysByName(access.keys) } };
}
