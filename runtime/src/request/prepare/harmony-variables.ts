// Variables of Harmony's chat templates that ask for what is not served.

import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import type { Fields } from '../body/field-table.js';

const efforts: readonly unknown[] = ['low', 'medium', 'high'];

/** @throws ApiError invalid_request */
export function requireHarmonyVariables({ builtin_tools: builtin, reasoning_effort: effort }: Fields): void {
  const violations: Violation[] = [];
  const asked = Array.isArray(builtin) ? builtin : [builtin ?? []].flat();
  if (asked.length > 0) {
    const rule = `asks for ${asked.map(String).join(', ')}, which this server does not run: describe a function of your own in tools`;
    violations.push(violationAt('chat_template_kwargs.builtin_tools', rule));
  }
  if (effort !== undefined && !efforts.includes(effort)) {
    const rule = `is ${JSON.stringify(effort)}, which this model does not know: send ${efforts.join(', ')}`;
    violations.push(violationAt('reasoning_effort', rule));
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
