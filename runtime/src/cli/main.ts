// Entry point of the `llmservice` command.

import { Command } from 'commander';
import { version } from '../http/api/version.js';
import { addServeCommand } from './serve-command.js';

const program = new Command('llmservice')
  .description('An open-weights LLM behind OpenAI and KServe routes.')
  .version(version);
addServeCommand(program);
await program.parseAsync();
