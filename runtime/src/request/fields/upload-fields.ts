// The form that stores a file, as OpenAI has it: the file itself, and fields that are texts.

import { invalidRequest, violationAt } from '../body/violation.js';

export const uploadFields = {
  purpose: { const: 'batch' },
  file: { type: 'string', format: 'binary', description: 'JSON lines, each a request' },
} as const;

/**
 * @param fields of the form but for the file, by name; members of objects as clients write them, `expires_after[anchor]`
 * @throws ApiError invalid_request, with every violation
 */
export function requireUpload(fields: ReadonlyMap<string, string>, hasFile: boolean): void {
  const violations = [...fields.keys()]
    .filter((name) => name !== 'purpose')
    .map((name) => violationAt(name, 'is not supported: files are kept for as long as the server is set to'));
  if (fields.get('purpose') !== 'batch')
    violations.push(violationAt('purpose', 'must be batch: files are for batches here'));
  if (!hasFile) violations.push(violationAt('file', 'is missing'));
  if (violations.length > 0) throw invalidRequest(violations);
}
