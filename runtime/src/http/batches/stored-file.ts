// A file as it is stored: what is known of it, and the objects that its content is in.

import type { Fields } from '../../request/body/field-table.js';

/** An object with a part of a file's content. */
export interface ContentPart {
  readonly key: string;
  readonly bytes: number;
}

export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly purpose: 'batch' | 'batch_output';
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** In their order. */
  readonly parts: readonly ContentPart[];
}

/** Of the content. */
export const bytesOf = ({ parts }: StoredFile): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** As OpenAI's clients read it. */
export const fileBody = (file: StoredFile): Fields => ({
  id: file.id,
  object: 'file',
  bytes: bytesOf(file),
  created_at: Math.floor(file.createdAt / 1000),
  expires_at: Math.floor(file.expiresAt / 1000),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
  status_details: null,
});
