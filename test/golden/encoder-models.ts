// The golden models that only embed, which have a folder of their own: they generate nothing that others are held to.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const encodersDir = fileURLToPath(new URL('encoders/', import.meta.url));
export const encoders: readonly string[] = readdirSync(encodersDir);

/** Values of `model_type`, each once. */
export const encoderTypes: readonly string[] = [...new Set(encoders.map(typeOf))];

function typeOf(model: string): string {
  const config = JSON.parse(readFileSync(`${encodersDir}${model}/config.json`, 'utf8')) as {
    readonly model_type: string;
  };
  return config.model_type;
}
