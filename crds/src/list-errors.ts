// What every error of a list of files over HTTP means, and of the servers that its files lie on: statuses of answers, and what our
// client finds of the list.

import type { FailureReason } from './failures.js';
import {
  connectionRows,
  readStoreError,
  type StoreErrorReading,
  type StoreErrorRow,
} from './store-errors.js';

/** A failure of the service, or a word about the one file that was asked for, which only who asked can judge. */
export type ListMeaning =
  | Extract<
      FailureReason,
      | 'CheckpointCorrupt'
      | 'CheckpointIncomplete'
      | 'ListAccessDenied'
      | 'ListCertificateUntrusted'
      | 'ListNotFound'
      | 'ListUnavailable'
      | 'ListUnsupported'
    >
  | 'objectAbsent'
  | 'objectChanged';

export const listErrorTable: readonly StoreErrorRow<ListMeaning>[] = [
  {
    means: 'ListNotFound',
    what: 'the list does not exist (404, 410)',
    codes: ['ListAbsent'],
  },
  {
    means: 'CheckpointIncomplete',
    what: 'a file that the list names does not exist (404, 410)',
    codes: ['FileGone'],
    hint: 'upload the file to where the list says that it lies, or correct the list',
  },
  {
    means: 'ListUnsupported',
    what: 'the list is no Data Package in JSON, or its resources lack a size or a SHA-256',
    codes: ['NoJson', 'NoPackage', 'InvalidEntry'],
    hint: 'resources need path, bytes and hash: "sha256:DIGEST"',
  },
  {
    means: 'ListUnsupported',
    what: 'a path is absolute, climbs out of the folder of the list or is not in Unicode, or two become one file',
    codes: ['InvalidPath', 'RepeatedFile'],
    hint: 'paths are relative to the list and below it, each file once',
  },
  {
    means: 'ListUnsupported',
    what: 'the list is longer than 4 MiB, or names more than 4,000 files',
    codes: ['AnswerTooLong', 'TooManyFiles'],
    hint: 'list the files of the checkpoint alone',
  },
  {
    means: 'ListUnsupported',
    what: 'a server gives a whole file for a part of it',
    codes: ['RangeNotHonoured'],
    hint: 'the files need a server that honours the header Range',
  },
  {
    means: 'ListAccessDenied',
    what: 'a list over HTTPS names, or a server leads to, an address without TLS',
    codes: ['InsecureAddress', 'InsecureRedirect'],
    hint: 'files of a list over HTTPS need https:// URLs',
  },
  {
    means: 'ListAccessDenied',
    what: 'a token is given for a list over http://, which everybody on the way would see',
    codes: ['InsecureToken'],
    hint: 'use an https:// list, or give no token',
  },
  {
    means: 'ListAccessDenied',
    what: 'a server refuses a request (4xx but 408, 425 and 429; 401 and 403 of hosts that it is led to)',
    codes: ['RequestRefused'],
    hint: 'correct the server, or the address that the list has or the server leads to',
  },
  {
    means: 'ListAccessDenied',
    what: 'a server redirects without end, or to no http(s) URL without a user',
    codes: ['TooManyRedirects', 'InvalidRedirect'],
    hint: 'correct the redirects of the server: at most 5 are followed',
  },
  {
    means: 'CheckpointCorrupt',
    what: 'the list has another digest than the URI says',
    codes: ['DigestMismatch'],
    hint: 'the list was replaced: name its new digest in the URI, or put it back',
  },
  {
    means: 'CheckpointCorrupt',
    what: 'a file has another size than the list says',
    codes: ['SizeDiffers'],
    hint: 'write the list anew from the files that are there',
  },
  ...connectionRows<ListMeaning>({
    untrusted: 'ListCertificateUntrusted',
    unavailable: 'ListUnavailable',
    endpoint: 'spec.model.uri',
  }),
  {
    means: 'objectAbsent',
    what: 'the list names no such file',
    codes: ['FileAbsent'],
  },
  {
    means: 'ListAccessDenied',
    what: 'the token is wrong, missing or not allowed to read; other hosts than that of the list get none',
    codes: [],
    statuses: [401, 403],
  },
  {
    means: 'objectChanged',
    what: 'the file is shorter than it was',
    codes: ['RangeNotThere'],
    statuses: [412, 416],
  },
];

/** An answer of no row (408, 425, 429, 5xx) is that of a server that is busy or fails. */
export function readListError(error: unknown): StoreErrorReading<ListMeaning> {
  return readStoreError(listErrorTable, error, () => 'ListUnavailable');
}
