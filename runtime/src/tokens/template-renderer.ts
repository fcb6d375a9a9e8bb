// Renders chat templates: a short conversation on the spot, anything else in worker threads. A template is a program that
// came with the weights, and one that loops or a conversation of megabytes must hold up neither other streams nor the
// health routes.

import { FailureError } from '@llmservice/crds';
import pLimit from 'p-limit';
import Tinypool from 'tinypool';
import type { Logger } from '../log/logger.js';
import {
  ChatTemplateRefusal,
  type ChatTemplate,
  type ChatTemplateInput,
  type ChatTemplateSource,
} from './chat-template.js';
import type { Rendered } from './template-worker.js';

/** A thousand messages take a tenth of a second: who needs longer than this does not end. */
const limitMs = 5000;
/** Renderings at once; others wait. */
const maxThreads = 2;
/** Longest that one waits for others: it is no fault of its own. */
const waitMs = 30_000;
/** A conversation of a million tokens is 4 MB of text; no template needs this for it. */
const maxHeapMb = 256;

/** What renders a conversation. */
export interface ChatRenderer {
  /**
   * @throws ChatTemplateRefusal with the template's own message, or because it took too long or too much memory
   * @throws FailureError QueueTimeout: others took too long
   */
  render(input: ChatTemplateInput): Promise<string>;
}

/** A thread that breaks a limit is replaced. */
export class TemplateRenderer implements ChatRenderer {
  readonly #template: ChatTemplate;
  readonly #pool: Tinypool;
  readonly #turns = pLimit(maxThreads);
  readonly #closing = new AbortController();
  readonly #started: Promise<unknown>;

  constructor(template: ChatTemplate, logger: Logger) {
    this.#template = template;
    this.#pool = new Tinypool({
      filename: new URL('./template-worker.js', import.meta.url).href,
      workerData: template.source satisfies ChatTemplateSource,
      // This process's own flags are not meant for threads.
      execArgv: [],
      minThreads: 1,
      maxThreads,
      idleTimeout: 60_000,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    // Of a thread that renders nothing; one that does fails its rendering.
    this.#pool.on('error', (error: Error) =>
      logger.error('a thread for chat templates failed', { cause: error.message }),
    );
    this.#started = this.#pool.run(null, { signal: AbortSignal.timeout(limitMs) }).catch(() => undefined);
  }

  async render(input: ChatTemplateInput): Promise<string> {
    return this.#template.renderBriefly(input) ?? this.#renderInTurn(input);
  }

  #renderInTurn(input: ChatTemplateInput): Promise<string> {
    const late = AbortSignal.timeout(waitMs);
    return this.#turns(() => {
      this.#closing.signal.throwIfAborted();
      if (!late.aborted) return this.#renderAside(input);
      const waited = `the conversation waited ${String(waitMs / 1000)} s for others to be rendered`;
      throw new FailureError('QueueTimeout', waited);
    });
  }

  async #renderAside(input: ChatTemplateInput): Promise<string> {
    const timeout = AbortSignal.timeout(limitMs);
    let rendered: Rendered;
    try {
      rendered = (await this.#pool.run(input, { signal: timeout })) as Rendered;
    } catch (cause) {
      if (timeout.aborted) {
        throw new ChatTemplateRefusal(`it had not ended after ${String(limitMs / 1000)} s`, { cause });
      }
      if ((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
        throw new ChatTemplateRefusal(`it took more than ${String(maxHeapMb)} MB of memory`, { cause });
      }
      throw cause;
    }
    if ('refusal' in rendered) throw new ChatTemplateRefusal(rendered.refusal);
    return rendered.text;
  }

  /** Ends the threads; what they render fails, and what waits for them. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A thread that is ended while it reads its modules leaves their files open.
    await this.#started;
    await this.#pool.destroy();
  }
}
