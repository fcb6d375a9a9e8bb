// Programs that read and write files as a model has them do: one task each, with the settings that their users need.

import { scriptedContext } from '../builders/scripted-checkpoint.js';
import { answer, byFileTools, byShell, question, said, task, type Client } from './client.js';

const key = 'none';

export const codingAgents: readonly Client[] = [
  {
    name: 'Qwen Code',
    protocol: 'chat',
    packages: { from: 'npm', specs: ['@qwen-code/qwen-code@0.24.4'] },
    script: byFileTools({ read: 'read_file', write: 'write_file', path: 'file_path' }),
    settings: () => ({
      '.qwen/settings.json': JSON.stringify({
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: 'openai' } },
      }),
    }),
    command: ({ programs }) => [`${programs}/qwen`, '--approval-mode', 'yolo', '--prompt', task],
    env: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'demo' }),
    says: said,
    writes: true,
  },
  {
    name: 'Codex',
    protocol: 'responses',
    packages: { from: 'npm', specs: ['@openai/codex@0.169.0'] },
    script: byShell('exec_command', 'cmd'),
    settings: ({ url }) => ({
      '.codex/config.toml': [
        'model = "demo"',
        'model_provider = "local"',
        `model_context_window = ${String(scriptedContext)}`,
        'web_search = "disabled"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
      ].join('\n'),
    }),
    command: ({ programs }) => [
      ...([`${programs}/codex`, 'exec'] as const),
      ...['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task],
    ],
    env: () => ({ LOCAL_KEY: key }),
    says: said,
    writes: true,
  },
  {
    name: 'Claude Code',
    protocol: 'messages',
    packages: { from: 'npm', specs: ['@anthropic-ai/claude-code@2.1.332'] },
    script: byFileTools({ read: 'Read', write: 'Write', path: 'file_path' }),
    command: ({ programs }) => [
      ...([`${programs}/claude`, '--print', task] as const),
      ...['--permission-mode', 'acceptEdits', '--allowedTools', 'Read,Write'],
    ],
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_MODEL: 'demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'demo',
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(scriptedContext),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    says: said,
    writes: true,
  },
  {
    name: 'opencode',
    protocol: 'chat',
    packages: { from: 'npm', specs: ['opencode-ai@1.18.33'] },
    script: byFileTools({ read: 'read', write: 'write', path: 'filePath' }),
    settings: ({ url }) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            name: 'local',
            options: { baseURL: `${url}/v1`, apiKey: key },
            models: { demo: { name: 'demo', limit: { context: scriptedContext, output: 4096 } } },
          },
        },
        model: 'local/demo',
        small_model: 'local/demo',
        autoupdate: false,
        share: 'disabled',
      }),
    }),
    command: ({ programs }) => [`${programs}/opencode`, 'run', task],
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
    says: said,
    writes: true,
  },
  {
    // Without tools: it shows the model the files, and writes those that the answer has in fences.
    name: 'aider',
    protocol: 'chat',
    packages: { from: 'pip', requirements: 'aider.txt' },
    script: () => ({ turns: [], aside: `${said}\n\n${answer.file}\n\`\`\`\n${answer.text}\`\`\`\n` }),
    command: ({ programs, url }) => [
      ...([`${programs}/aider`, '--model', 'openai/demo', '--edit-format', 'whole'] as const),
      ...['--openai-api-base', `${url}/v1`, '--openai-api-key', key, '--message', task],
      ...['--yes-always', '--no-git', '--no-check-update', '--no-analytics', '--no-show-model-warnings'],
      ...['--map-tokens', '0', '--read', question.file, answer.file],
    ],
    env: () => ({ LITELLM_LOCAL_MODEL_COST_MAP: 'True' }),
    says: said,
    writes: true,
  },
];
