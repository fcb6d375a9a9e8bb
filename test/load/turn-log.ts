// Preloaded into a server: writes down each turn of its event loop that took long on a processor, whatever the others on the
// machine did meanwhile. TURN_LOG: the file, a line with milliseconds per turn.

import { appendFileSync, openSync, readSync } from 'node:fs';

const log = process.env['TURN_LOG'];
/** Shorter ones are not written. */
const longMs = 20;
const everyMs = 5;

/** The server's children inherit the variables and are none of it. */
if (log !== undefined && process.argv[1]?.endsWith('/main.js') === true) {
  const pid = String(process.pid);
  const file = openSync(`/proc/${pid}/task/${pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(64);
  const ranMs = (): number => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let last = ranMs();
  setInterval(() => {
    const now = ranMs();
    if (now - last >= longMs) appendFileSync(log, `${(now - last).toFixed(0)}\n`);
    last = now;
  }, everyMs).unref();
}
