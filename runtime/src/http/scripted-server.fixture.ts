// A server on a free port with the real routes, tokenizer and template, whose engine follows a script.

import { KeyBudgets } from '@llmservice/crds/keys';
import { ChatTemplate } from '../tokens/chat-template.js';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { harmonyTexts, harmonyTokens } from '../harmony/harmony-tokens.js';
import type { CallFormName } from '../tools/call-forms.js';
import { dialectOf } from '../tools/dialect.js';
import { servedTools } from '../tools/served-tools.js';
import { makeLogger } from '../log/logger.js';
import { ServedAdapters } from '../adapters/served-adapters.js';
import { limitError } from '../keys/limit-error.js';
import { momentOf } from '../../../crds/src/keys/moment.fixture.js';
import { ServerMetrics } from '../metrics/server-metrics.js';
import type { EndedRequest } from '../observe/ended-request.js';
import { RecentErrors } from '../observe/recent-errors.js';
import type { Access } from './access/access.js';
import { Admission } from './access/admission.js';
import { makeApp } from './app.js';
import { batchSender } from './batch-sender.js';
import type { MadeBatches } from './batches/batch-service.fixture.js';
import { compatibilities, type CompatibilityName } from '../request/compatibility.js';
import { headClassifier, plainEmbeddings } from '../request/prepare/plain-embeddings.fixture.js';
import { noDefaults, noServerDefaults } from '../request/fields/generation-defaults.fixture.js';
import { generationDefaults, type ServerDefaults } from '../request/fields/generation-defaults.js';
import { LoopTurns } from '../loop-turns.js';
import { BodyBudget, bodyPaces as defaultPaces, type BodyPaces } from './bodies/body-budget.js';
import { connectionLimits, type ConnectionLimits } from './server/connection-limits.js';
import { HttpServer } from './server/http-server.js';
import { Lifecycle } from './replica/lifecycle.js';
import { ScriptedEngine, type Script } from './scripted-engine.fixture.js';
import { withPrefix, type ServedModel } from './replica/served-model.js';
import type { ServerParts } from './replica/server-parts.js';
import type { StoredResponses } from './stored-responses/stored-responses.js';

const chatTemplate =
  '{% for m in messages %}{{ m.role }}:{{ m.content }}{% endfor %}{{ "!" if enable_thinking is false }}';

/** Shows calls, how many tools there are, and documents. */
const toolTemplate =
  '{% for m in messages %}{{ m.role }}{% if m.tool_call_id %}({{ m.tool_call_id }}){% endif %}:{{ m.content }}' +
  '{% if m.tool_calls %}{% for c in m.tool_calls %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]' +
  '{% endfor %}{% endif %}{% endfor %}{% if tools %}{{ tools | length }} tools{% endif %}' +
  '{% for d in documents or [] %}[{{ d.title }}: {{ d.text }}]{% endfor %}' +
  '{{ "!" if enable_thinking is false }}';

/** Of a template that knows no tools. */
const strictTemplate =
  '{% for m in messages %}{% if m.role not in ["system", "user", "assistant"] %}' +
  '{{ raise_exception("Unknown role: " + m.role) }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}';

/** Shows how long to think, how many tools there are, and thoughts. */
const harmonyTemplate =
  '<|start|>system<|message|>{{ reasoning_effort or "medium" }}{{ tools | length if tools else "" }}<|end|>' +
  '{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.thinking }}{{ m.content }}' +
  '{% for c in m.tool_calls or [] %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]{% endfor %}<|end|>' +
  '{% endfor %}<|start|>assistant';

const markerTexts = ['<think>', '</think>', '<tool_call>', '</tool_call>'];

/** Control tokens of models that write calls otherwise, from id 271. */
const controls = ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'];

type Judges = boolean | 'head' | 'cosine';
type ToolsOfModel = boolean | 'described' | 'harmony' | CallFormName;

export class ScriptedServer {
  /** Ids of the tokens around reasoning and calls, of a server with tools. */
  static readonly markers = { thinkBegin: 267, thinkEnd: 268, begin: 269, end: 270 };
  /** Those of Mistral's models, of a server of theirs. */
  static readonly mistral = { begin: 271, args: 272, callId: 273 };

  private constructor(
    /** Requests that ended, in that order. */
    readonly ended: readonly EndedRequest[],
    readonly url: string,
    readonly engine: ScriptedEngine,
    readonly parts: ServerParts,
    readonly http: HttpServer,
    readonly tokenizer: Tokenizer,
  ) {}

  /**
   * Takes up to 8 generations at once. `tools`: of a model that reasons and calls tools, in the given form, or that tools
   * are described to. `judges`: of one whose tokens n and y score texts, or with a head of two labels, or one that embeds.
   */
  static async start({
    serving = true,
    tools = false,
    access = {},
    keepsTexts = false,
    limits = connectionLimits,
    maxBodyBytes = 100_000,
    maxBodiesBytes = 100_000_000,
    maxConnections = 1_000,
    corsOrigins = [],
    bodyPaces = defaultPaces,
    service = null,
    compatibility = 'none',
    storedResponses = null,
    takesTemplates = false,
    batches = null,
    judges = false,
  }: {
    readonly serving?: boolean;
    readonly tools?: ToolsOfModel;
    readonly access?: Partial<Access>;
    readonly keepsTexts?: boolean;
    readonly limits?: ConnectionLimits;
    readonly maxBodyBytes?: number;
    readonly maxBodiesBytes?: number;
    readonly maxConnections?: number;
    readonly corsOrigins?: readonly string[];
    readonly bodyPaces?: BodyPaces;
    readonly service?: string | null;
    readonly compatibility?: CompatibilityName;
    readonly storedResponses?: StoredResponses | null;
    readonly takesTemplates?: boolean;
    readonly batches?: MadeBatches | null;
    readonly judges?: Judges;
  } = {}): Promise<ScriptedServer> {
    const engine = new ScriptedEngine();
    const tokenizer = Tokenizer.fromJson(vocabularyOf(tools), 'tokenizer.json');
    const compatible = compatibilities[compatibility];
    const lifecycle = new Lifecycle('tiny');
    if (serving) {
      lifecycle.startLoading();
      lifecycle.startServing(
        engine,
        servedWith(
          { compatibility: compatible, takesTemplates },
          judges !== false ? judgingModel(tokenizer, judges) : modelWith(tools, tokenizer),
        ),
      );
    }
    const metrics = new ServerMetrics('tiny', () => lifecycle);
    const ended: EndedRequest[] = [];
    const recentErrors = new RecentErrors();
    const logger = makeLogger('error');
    const send = batchSender(() => parts);
    const parts: ServerParts = {
      lifecycle,
      names: {
        ...withPrefix({ name: 'tiny', aliases: ['small'] }, compatible.namePrefix),
        adapters: new ServedAdapters(),
      },
      service,
      admission: new Admission(8),
      metrics,
      access: {
        keys: null,
        protectMetrics: false,
        mostUrgentPriority: -8,
        open: new Set(),
        budgets: new KeyBudgets(1, limitError(metrics.keys)),
        metrics: metrics.keys,
        log: null,
        clock: () => momentOf(Date.now()),
        ...access,
      },
      logger,
      running: new Set(),
      turns: new LoopTurns(),
      bodies: new BodyBudget(maxBodiesBytes, maxBodyBytes, () => performance.now(), bodyPaces),
      maxConnections,
      corsOrigins,
      storedResponses,
      batches: batches?.({ isServing: () => lifecycle.model !== null, send, logger }) ?? null,
      observers: [
        (request) => ended.push(request),
        (request) => metrics.requestEnded(request),
        (request) => {
          if (request.errorCode !== null) recentErrors.add(request, request.errorCode);
        },
      ],
      recentErrors,
      keepsTexts,
      now: () => performance.now(),
    };
    const http = new HttpServer(makeApp(parts, compatible), parts, null, limits);
    const port = await http.listen('127.0.0.1', 0);
    return new ScriptedServer(ended, `http://127.0.0.1:${String(port)}`, engine, parts, http, tokenizer);
  }

  set script(script: Script) {
    this.engine.script = script;
  }

  async stop(): Promise<void> {
    await this.parts.batches?.close();
    await this.http.close();
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, { headers });
  }

  /** @param body a text is sent as it is, JSON or not */
  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(this.url + path, { method: 'POST', body: text, headers });
  }

  chat(body: object): Promise<Response> {
    return this.post('/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], ...body });
  }
}

function servedWith(server: Partial<ServerDefaults>, model: ServedModel): ServedModel {
  return {
    ...model,
    defaults: generationDefaults(model.defaults, { ...noServerDefaults, ...server }, true),
  };
}

function modelWith(tools: ToolsOfModel, tokenizer: Tokenizer): ServedModel {
  if (tools === false) return tinyModel(tokenizer);
  if (tools === 'described') return describedTo(tokenizer);
  if (tools === 'harmony') return answeringInChannels(tokenizer);
  return callingModel(tokenizer, tools === true ? 'qwenJson' : tools);
}

function vocabularyOf(tools: ToolsOfModel): string {
  if (tools === false || tools === 'described') return tokenizerJson();
  if (tools !== 'harmony') return tokenizerJson(markerTexts, controls);
  return tokenizerJson(
    [],
    Object.values(harmonyTexts).filter((text) => text !== '<|end|>'),
  );
}

function answeringInChannels(tokenizer: Tokenizer): ServedModel {
  const harmony = harmonyTokens(tokenizer);
  if (harmony === null) throw new Error('the vocabulary has the markers');
  const eosIds = [harmony.return, harmony.call];
  return { ...tinyModel(tokenizer, harmonyTemplate), maxModelLen: 4096, harmony, eosIds };
}

function judgingModel(tokenizer: Tokenizer, by: Judges): ServedModel {
  if (by === 'cosine') return { ...tinyModel(tokenizer), embeds: true };
  const tokens = [...Buffer.from('ny')];
  const classifier = { kind: 'tokens', names: ['n', 'y'], activation: 'softmax', tokens } as const;
  return {
    ...tinyModel(tokenizer),
    maxModelLen: 1024,
    generates: by !== 'head',
    classifier: by === 'head' ? headClassifier : classifier,
  };
}

function describedTo(tokenizer: Tokenizer): ServedModel {
  const { chatTemplate, ...model } = tinyModel(tokenizer, strictTemplate);
  if (chatTemplate === null) throw new Error('the model has a template');
  const probed = { dialect: null, written: null, describedBy: 'system' } as const;
  return { ...model, maxModelLen: 4096, ...servedTools(chatTemplate, probed, tokenizer, {}) };
}

function callingModel(tokenizer: Tokenizer, form: CallFormName): ServedModel {
  const { thinkBegin: begin, thinkEnd: end } = ScriptedServer.markers;
  return {
    ...tinyModel(tokenizer, toolTemplate),
    maxModelLen: 4096,
    think: { begin, end, label: '' },
    toolDialect: dialectOf(form, tokenizer),
  };
}

function tinyModel(tokenizer: Tokenizer, text = chatTemplate): ServedModel {
  const template = ChatTemplate.fromSource({
    templates: [{ name: 'default', template: text }],
    specialTokens: {},
  });
  return {
    tokenizer,
    chatTemplate: {
      showsDocuments: text.includes('documents'),
      render: (input) => Promise.resolve().then(() => template.render(input)),
    },
    eosIds: [2],
    generates: true,
    classifier: null,
    pooling: 'last',
    ...plainEmbeddings,
    embeds: false,
    vocabSize: 300,
    maxModelLen: 64,
    defaults: { ...noDefaults, eosIds: [2] },
    think: null,
    toolDialect: null,
    harmony: null,
    tokenizerInfo: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: '<|bos|>',
      eos_token: '<|end|>',
      pad_token: null,
      chat_template: text,
    },
  };
}
