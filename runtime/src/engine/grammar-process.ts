// Entry of the process that grammars are compiled in: small, started before the weights are loaded, and forked anew for
// each grammar, so that one that explodes ends its own fork alone. It ends with the engine process, and its forks with it.

import { dieWithParent, grammarCompiler, type Compilation, type GrammarCompiler } from '@llmservice/native';
import type { CompilerMessage, CompileRequest } from './compile-processes.js';

const signOfLifeMs = 1000;
const lookMs = 100;

const running = new Map<number, Compilation>();
let compiler: GrammarCompiler | null = null;

function send(message: CompilerMessage): void {
  // A closed channel means that the parent is gone; 'disconnect' ends this process.
  if (process.connected) process.send?.(message);
}

function compile(request: Extract<CompileRequest, { type: 'compile' }>): void {
  const { place, kind, text, file, limits, short } = request;
  if (compiler === null) throw new Error('a grammar came before the vocabulary');
  const compilation = compiler.compileApart(kind, text, file, limits);
  running.set(place, compilation);
  const startedAt = performance.now();
  const looks = setInterval(() => {
    const wallSeconds = (performance.now() - startedAt) / 1000;
    if (wallSeconds <= short.wallSeconds || compilation.cpuSeconds() <= short.cpuSeconds) return;
    clearInterval(looks);
    send({ type: 'outgrew', place });
  }, lookMs);
  void compilation.outcome.then((outcome) => {
    clearInterval(looks);
    running.delete(place);
    send({ type: 'ended', place, outcome });
  });
}

dieWithParent();
process.on('message', (message: CompileRequest) => {
  switch (message.type) {
    case 'vocabulary':
      compiler = grammarCompiler(message.vocabulary);
      compiler.warm();
      return;
    case 'compile':
      compile(message);
      return;
    case 'kill':
      running.get(message.place)?.kill();
  }
});
// For the moment before the kernel was asked to do it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal's Ctrl-C goes to the whole process group; the server decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
setInterval(() => send({ type: 'alive' }), signOfLifeMs);
