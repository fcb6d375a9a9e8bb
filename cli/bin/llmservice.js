#!/usr/bin/env node
// The `llmservice` command. The runtime and the operator know nothing of each other; this file alone names both.

const programs = {
  serve: { start: () => import('@llmservice/runtime/cli'), does: 'Serve a model on this machine' },
  plan: {
    start: () => import('@llmservice/operator/cli'),
    does: 'Say whether manifests fit, and what becomes of them',
  },
};

const name = process.argv[2] ?? '--help';
if (name === '--version') {
  await programs.serve.start();
} else if (Object.hasOwn(programs, name)) {
  await programs[name].start();
} else {
  const list = Object.entries(programs).map(([command, { does }]) => `  ${command.padEnd(8)} ${does}`);
  const help = `usage: llmservice COMMAND [options]\n\n${list.join('\n')}\n\nllmservice COMMAND --help lists its options.\n`;
  const asked = name === '--help' || name === '-h' || name === 'help';
  (asked ? process.stdout : process.stderr).write(asked ? help : `llmservice: no command ${name}\n\n${help}`);
  process.exitCode = asked ? 0 : 2;
}
