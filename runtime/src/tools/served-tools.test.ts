import { expect, test } from '@jest/globals';
import { ChatTemplate } from '../tokens/chat-template.js';
import type { ChatRenderer } from '../tokens/template-renderer.js';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { probeDialect } from './probe-dialect.js';
import { servedTools, type ToolSettings } from './served-tools.js';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
const plain = '{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}';
const offer = '{% if tools %}{{ tools | tojson }}{% endif %}';
const templates = {
  'that knows no tools': plain,
  'that refuses them': `{% if tools %}{{ raise_exception("no") }}{% endif %}${plain}`,
  'that refuses system messages': `{% if messages[0].role == "system" %}{{ raise_exception("no") }}{% endif %}${plain}`,
  'that leaves system messages out': `{% for m in messages if m.role != "system" %}<{{ m.role }}>{{ m.content }}{% endfor %}`,
  'that shows tools, and no calls': offer + plain,
  'that describes calls': `${offer}Write <tool_call>{"name": …${plain}`,
} as const;

async function served(name: keyof typeof templates, settings: ToolSettings) {
  const template = ChatTemplate.compile(templates[name], {})!;
  const renderer: ChatRenderer = {
    render: (input) => Promise.resolve().then(() => template.render(input)),
  };
  return servedTools(renderer, await probeDialect(renderer, tokenizer), tokenizer, settings);
}

const input = {
  messages: [{ role: 'user', content: 'x' }],
  tools: [{ type: 'function', function: { name: 'f' } }],
};

test.each<[keyof typeof templates, ToolSettings, kind: string | null, prompt: RegExp]>([
  ['that knows no tools', {}, 'qwenJson', /^<system># Tools[^]*\{"name": "NAME", "arguments"[^]*<user>x$/],
  ['that knows no tools', { toolsWithoutTemplate: 'describe' }, 'qwenJson', /^<system># Tools/],
  ['that knows no tools', { toolsWithoutTemplate: 'refuse' }, null, /^<user>x$/],
  ['that knows no tools', { toolCallParser: 'qwen3_xml' }, 'qwenXml', /^<system># Tools[^]*<function=NAME>/],
  ['that knows no tools', { toolCallParser: 'qwen3_xml', toolsWithoutTemplate: 'refuse' }, null, /^<user>x$/],
  ['that refuses them', {}, 'qwenJson', /^<system># Tools/],
  ['that refuses system messages', {}, 'qwenJson', /^<user># Tools[^]*\n\nx$/],
  ['that leaves system messages out', {}, 'qwenJson', /^<user># Tools[^]*\n\nx$/],
  ['that shows tools, and no calls', {}, null, /^\[\{[^]*<user>x$/],
  ['that shows tools, and no calls', { toolCallParser: 'hermes' }, 'qwenJson', /^\[\{[^]*<user>x$/],
  ['that describes calls', { toolsWithoutTemplate: 'refuse' }, 'qwenJson', /^\[\{[^]*<user>x$/],
])('a template %s, with %j', async (name, settings, kind, prompt) => {
  const { chatTemplate, toolDialect } = await served(name, settings);
  expect(toolDialect?.kind ?? null).toBe(kind);
  expect(chatTemplate.describesTools === true).toBe(prompt.source.includes('# Tools'));
  expect(await chatTemplate.render(input)).toMatch(prompt);
});
