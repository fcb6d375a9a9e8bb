// How requests with tools are served: by the chat template where it shows the model the tools; where it shows none, by a
// message that describes them, or not at all, as the configuration says.

import type { EngineConfig } from '@llmservice/crds';
import type { ChatTemplateInput } from '../tokens/chat-template.js';
import type { ChatRenderer, RenderOptions } from '../tokens/template-renderer.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { withToolsDescribed, type ToolDescription } from './described-tools.js';
import { dialectOf, dialectOfParser, type ToolDialect } from './dialect.js';
import type { ProbedDialect } from './probe-dialect.js';

export type ToolSettings = Pick<EngineConfig['engine'], 'toolCallParser' | 'toolsWithoutTemplate'>;

interface ServedTools {
  readonly chatTemplate: ChatRenderer;
  /** Null: requests with tools are refused. */
  readonly toolDialect: ToolDialect | null;
}

/** @param probed what the template does of itself */
export function servedTools(
  chatTemplate: ChatRenderer,
  { dialect, describedBy }: ProbedDialect,
  tokenizer: Tokenizer,
  { toolCallParser, toolsWithoutTemplate }: ToolSettings,
): ServedTools {
  const named = toolCallParser === undefined ? null : dialectOfParser(toolCallParser, dialect, tokenizer);
  if (describedBy === null) return { chatTemplate, toolDialect: named ?? dialect };
  if (toolsWithoutTemplate === 'refuse') return { chatTemplate, toolDialect: null };
  // Public models know this form best.
  const toolDialect = named ?? dialectOf('qwenJson', tokenizer);
  const how = { kind: toolDialect.kind, role: describedBy };
  return { chatTemplate: new DescribingRenderer(chatTemplate, how), toolDialect };
}

class DescribingRenderer implements ChatRenderer {
  readonly describesTools = true;
  readonly showsUsers: boolean;
  readonly showsDocuments: boolean;

  constructor(
    private readonly template: ChatRenderer,
    private readonly how: ToolDescription,
  ) {
    this.showsUsers = template.showsUsers === true;
    this.showsDocuments = template.showsDocuments !== false;
  }

  render(input: ChatTemplateInput, options?: RenderOptions): Promise<string> {
    // A template of the request's own is shown the tools.
    const isAsGiven = typeof input.template === 'string' || !speaksOfTools(input);
    return this.template.render(isAsGiven ? input : withToolsDescribed(input, this.how), options);
  }
}

/** Whether there are tools, calls of them or their results. */
const speaksOfTools = ({ tools, messages }: ChatTemplateInput): boolean =>
  tools !== undefined ||
  messages.some((message) => message['role'] === 'tool' || message['tool_calls'] !== undefined);
