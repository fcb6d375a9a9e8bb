#!/usr/bin/env node
// `kubectl llm`: kubectl finds this program by its name.

import { startProgram } from './start-program.js';

const operator = () => import('@llmservice/operator/kubectl');
const programs = {
  status: { start: operator, does: 'Say whether services serve, and if not why and how to fix it' },
  plan: {
    start: () => import('@llmservice/operator/cli'),
    does: 'Say whether manifests fit, and what becomes of them',
  },
  logs: { start: operator, does: "Print the logs of a service's pods for reading" },
  chat: { start: operator, does: 'Talk with the model of a service' },
  drain: { start: operator, does: 'Take a pod away, or all from a node, without cutting answers off' },
  doctor: {
    start: () => import('@llmservice/operator/doctor'),
    does: 'Check the cluster, and the services in it',
  },
};

await startProgram('kubectl llm', programs, { start: () => import('@llmservice/runtime/cli') });
