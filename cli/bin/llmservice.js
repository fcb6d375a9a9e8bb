#!/usr/bin/env node
// The `llmservice` command. The runtime and the operator know nothing of each other; this folder alone names both.

import { startProgram } from './start-program.js';

const programs = {
  serve: { start: () => import('@llmservice/runtime/cli'), does: 'Serve a model on this machine' },
  plan: {
    start: () => import('@llmservice/operator/cli'),
    does: 'Say whether manifests fit, and what becomes of them',
  },
  doctor: {
    start: () => import('@llmservice/operator/doctor'),
    does: 'Check a cluster, and the services in it',
  },
};

await startProgram('llmservice', programs, programs.serve);
