// A loaded model, as requests are prepared for it.

import type { HarmonyTokens } from '../../harmony/harmony-tokens.js';
import type { ChatRenderer } from '../../tokens/template-renderer.js';
import type { Tokenizer } from '../../tokens/tokenizer.js';
import type { ToolDialect } from '../../tools/dialect.js';
import { ApiError } from '../body/api-error.js';
import type { ThinkIds } from '../text/think-ids.js';
import type { ModelTasks } from './model-tasks.js';

/** What of a loaded model request code needs. */
export interface ModelTexts extends ModelTasks {
  readonly tokenizer: Tokenizer;
  /** Null: the checkpoint has none, so that only completions and plain :predict prompts work. */
  readonly chatTemplate: ChatRenderer | null;
  readonly eosIds: readonly number[];
  /** Null: the tokenizer has no such tokens. */
  readonly think: ThinkIds | null;
  /** Null: the chat template knows none, or answers are in channels. */
  readonly toolDialect: ToolDialect | null;
  /** Of answers in the channels of OpenAI's Harmony format, which have reasoning and calls of their own; null: of any other. */
  readonly harmony: HarmonyTokens | null;
  /** Rows of the embedding: ids at or above it do not exist. */
  readonly vocabSize: number;
  /** Tokens of prompt plus output of one sequence. */
  readonly maxModelLen: number;
}

/** @throws ApiError tools_not_supported */
export function requireDialect({ toolDialect }: ModelTexts): ToolDialect {
  if (toolDialect !== null) return toolDialect;
  throw ApiError.of(
    'tools_not_supported',
    "the checkpoint's chat template has no tools that this server can read calls of: send the request without tools",
    { param: 'tools' },
  );
}
