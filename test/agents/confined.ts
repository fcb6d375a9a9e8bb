// Runs a command in a network of its own, in which nothing answers but one server: it listens on the loopback interface
// and passes connections on to a Unix socket. To be started by `unshare --net`.
// usage: confined.ts SOCKET PORT PROGRAM [ARGUMENT...]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const [socket = '', port, program = '', ...args] = process.argv.slice(2);
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const server = createServer((client) => {
  const upstream = connect(socket);
  client.pipe(upstream).pipe(client);
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
});
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
