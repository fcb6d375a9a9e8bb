// All cases, in the order of the page.

import { derenderCases } from './derender-cases.js';
import { llamaChatCases } from './llama-chat-cases.js';
import { llamaCompletionCases } from './llama-completion-cases.js';
import { messagesCases } from './messages-cases.js';
import { responsesCases } from './responses-cases.js';
import { serverCases } from './server-cases.js';
import type { SuiteCase } from './suite-case.js';
import { textCases } from './text-cases.js';
import { toolCases } from './tool-cases.js';
import { vllmChatCases } from './vllm-chat-cases.js';
import { vllmChatFieldCases } from './vllm-chat-field-cases.js';
import { vllmCompletionCases } from './vllm-completion-cases.js';

export const suiteCases: readonly SuiteCase[] = [
  ...llamaChatCases,
  ...vllmChatCases,
  ...vllmChatFieldCases,
  ...toolCases,
  ...llamaCompletionCases,
  ...vllmCompletionCases,
  ...responsesCases,
  ...derenderCases,
  ...messagesCases,
  ...textCases,
  ...serverCases,
];
