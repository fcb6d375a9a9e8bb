// The checkpoint's chat template: a Jinja program from chat_template.jinja, tokenizer_config.json or chat_template.json that
// turns a conversation into prompt text. It gets the variables and functions that transformers gives it.

import { FailureError, parseJsonObject } from '@llmservice/crds';
import { renderBriefly } from './brief-rendering.js';
import { TemplateFlaw, TemplateRefusal } from './jinja/errors.js';
import { renderTemplate } from './jinja/interpreter.js';
import { Meter } from './jinja/meter.js';
import type { Body } from './jinja/nodes.js';
import { parseTemplate } from './jinja/template-parser.js';
import { withSystemsShown } from './system-messages.js';

/** A conversation to render. Messages and tools are passed on as they are: shapes are the template's business. */
export interface ChatTemplateInput {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** JSON-schema tool descriptions; null or absent: none. */
  readonly tools?: readonly unknown[] | null | undefined;
  /** In place of the checkpoint's; null or absent: the checkpoint's. */
  readonly template?: string | null | undefined;
  /** Texts to answer from; null or absent: none. */
  readonly documents?: readonly unknown[] | null | undefined;
  /** Whether the text ends where the assistant's answer begins; default true. */
  readonly addGenerationPrompt?: boolean | undefined;
  /** Further variables, such as `enable_thinking`; those of `#variables` are refused in request/fields/thinking.ts. */
  readonly kwargs?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Of a render that is not brief: less than a second's, and more for a long conversation. For 200 messages public templates
 * take 20,000, and up to 550,000; those that walk through each character take 7 of each besides.
 */
const maxSteps = (variables: unknown): number => 1_000_000 + 10 * JSON.stringify(variables).length;

/** The template refused a conversation (`raise_exception`) or could not handle it: a fault of the request. */
export class ChatTemplateRefusal extends Error {
  override readonly name = 'ChatTemplateRefusal';

  /** Whether the template itself refused, or asks for a variable. */
  get isRaised(): boolean {
    return this.cause instanceof TemplateRefusal;
  }
}

interface NamedTemplate {
  readonly name: string;
  readonly template: string;
}

/** All that a template is compiled from: plain data, so that it can go to another thread. */
export interface ChatTemplateSource {
  readonly templates: readonly NamedTemplate[];
  readonly specialTokens: Readonly<Record<string, string>>;
}

interface TokenizerConfig {
  readonly chat_template?: string | readonly NamedTemplate[];
  readonly [key: string]: unknown;
}

/** Compiled chat template of one checkpoint. */
export class ChatTemplate {
  readonly #default: Body;
  readonly #toolUse: Body;

  private constructor(
    plain: Body,
    toolUse: Body,
    readonly source: ChatTemplateSource,
  ) {
    this.#default = plain;
    this.#toolUse = toolUse;
  }

  /**
   * From the texts of a checkpoint's files (null: absent); null when they hold no template.
   * `chat_template.jinja` wins over tokenizer_config.json, and that over chat_template.json.
   * @throws FailureError ChatTemplateInvalid when the template cannot be parsed
   */
  static fromFiles(
    tokenizerConfig: string | null,
    jinja: string | null,
    processor: string | null = null,
  ): ChatTemplate | null {
    const config: TokenizerConfig = readObject('tokenizer_config.json', tokenizerConfig);
    const template = jinja ?? config.chat_template ?? templateOfProcessor(processor);
    return ChatTemplate.compile(template, specialTokensOf(config));
  }

  /** Compiles one template, or a list of named ones of which `default` and `tool_use` count; null gives null. */
  static compile(
    text: string | readonly NamedTemplate[] | null,
    specialTokens: Readonly<Record<string, string>>,
  ): ChatTemplate | null {
    if (text === null) return null;
    const templates = typeof text === 'string' ? [{ name: 'default', template: text }] : text;
    return ChatTemplate.fromSource({ templates, specialTokens });
  }

  /** @throws FailureError ChatTemplateInvalid */
  static fromSource(source: ChatTemplateSource): ChatTemplate {
    const parsed = new Map(source.templates.map(({ name, template }) => [name, parse(name, template)]));
    const plain = parsed.get('default');
    if (plain === undefined) {
      throw invalid(`none of the templates is named default: ${[...parsed.keys()].join(', ')}`);
    }
    return new ChatTemplate(plain, parsed.get('tool_use') ?? plain, source);
  }

  /** All of its templates' text. */
  get text(): string {
    return this.source.templates.map(({ template }) => template).join('\n');
  }

  /**
   * Prompt text of a conversation, special tokens included.
   * @throws ChatTemplateRefusal with the template's own message, or because it takes too much work
   * @throws FailureError ChatTemplateInvalid: the template uses what Jinja does not have
   */
  render(input: ChatTemplateInput): string {
    return this.#render(input, (template, variables) =>
      renderTemplate(template, variables, new Meter(maxSteps(variables))),
    );
  }

  /**
   * The same, or null where it would take more than a few milliseconds, or the template is the request's own.
   * @throws ChatTemplateRefusal, FailureError as `render`
   */
  renderBriefly(input: ChatTemplateInput): string | null {
    return isOwn(input) ? null : this.#render(input, renderBriefly);
  }

  #render<Text extends string | null>(
    input: ChatTemplateInput,
    run: (template: Body, variables: Record<string, unknown>) => Text,
  ): Text {
    const template = this.#templateFor(input);
    const render = (messages: ChatTemplateInput['messages']): Text =>
      run(template, this.#variables({ ...input, messages }));
    const staysLast = input.addGenerationPrompt === false;
    return orRefuse(isOwn(input), () => render(withSystemsShown(input.messages, staysLast, render)));
  }

  #templateFor({ template, tools }: ChatTemplateInput): Body {
    if (typeof template === 'string') return orRefuse(true, () => parseTemplate(template));
    return (tools ?? null) === null ? this.#default : this.#toolUse;
  }

  #variables(input: ChatTemplateInput): Record<string, unknown> {
    return {
      ...this.source.specialTokens,
      ...input.kwargs,
      messages: input.messages,
      tools: input.tools ?? null,
      documents: input.documents ?? null,
      add_generation_prompt: input.addGenerationPrompt ?? true,
    };
  }
}

const isOwn = ({ template }: ChatTemplateInput): boolean => typeof template === 'string';

/** @param isOwn whether the template is the request's: then its flaws are the request's too */
function orRefuse<T>(isOwn: boolean, render: () => T): T {
  try {
    return render();
  } catch (cause) {
    if (cause instanceof TemplateFlaw && !isOwn) throw invalid(cause.message, cause);
    throw new ChatTemplateRefusal(messageOf(cause), { cause });
  }
}

function parse(name: string, source: string): Body {
  try {
    return parseTemplate(source);
  } catch (cause) {
    throw invalid(`the ${name} template cannot be parsed: ${messageOf(cause)}`, cause);
  }
}

/** Variables such as bos_token; a token is written as a string or as an object with `content`. */
export function specialTokensOf(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const [key, value] of Object.entries(config)) {
    if (!/^(bos|eos|unk|sep|pad|cls|mask)_token$/.test(key)) continue;
    const text = typeof value === 'object' && value !== null && 'content' in value ? value.content : value;
    if (typeof text === 'string') tokens[key] = text;
  }
  return tokens;
}

/** Of chat_template.json, which has nothing else that counts. */
function templateOfProcessor(text: string | null): string | null {
  const name = 'chat_template.json';
  const { chat_template: template = null } = readObject(name, text);
  if (template === null || typeof template === 'string') return template;
  throw invalid(`chat_template of ${name} is not a text`);
}

function readObject(name: string, text: string | null): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(name, text ?? '{}');
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

function invalid(message: string, cause?: unknown): FailureError {
  return new FailureError('ChatTemplateInvalid', `chat template: ${message}`, undefined, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
