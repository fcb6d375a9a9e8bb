// Small HTTP servers of a test, at ports by chance, and an address for every name.

import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';

export class LocalServers {
  private readonly servers: http.Server[] = [];

  /** @returns its port */
  async listen(handler: http.RequestListener): Promise<number> {
    const server = http.createServer(handler);
    this.servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** With the connections that are open. */
  close(): void {
    for (const server of this.servers.splice(0)) server.close().closeAllConnections();
  }
}

export const toLocalhost: LookupFunction = (_, { all }, callback) =>
  all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
