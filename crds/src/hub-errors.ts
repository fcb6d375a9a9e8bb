// What every error of a hub of models means: of the Hugging Face Hub, or of a server with the same API. It names what is wrong
// in the header X-Error-Code of its answers (https://huggingface.co/docs/hub/api), and hides private repositories from whoever
// has no token for them.

import type { FailureReason } from './failures.js';
import {
  connectionRows,
  readStoreError,
  type StoreErrorReading,
  type StoreErrorRow,
} from './store-errors.js';

/** A failure of the service, or a word about the one file that was asked for, which only who asked can judge. */
export type HubMeaning =
  | Extract<
      FailureReason,
      'RepositoryNotFound' | 'HubAccessDenied' | 'HubCertificateUntrusted' | 'HubUnavailable'
    >
  | 'objectAbsent'
  | 'objectChanged';

export const hubErrorTable: readonly StoreErrorRow<HubMeaning>[] = [
  {
    means: 'RepositoryNotFound',
    what: 'the repository does not exist, or is private',
    codes: ['RepoNotFound'],
    hint: 'a private repository is hidden from a request without a token that may read it',
  },
  {
    means: 'RepositoryNotFound',
    what: 'the repository has no such revision',
    codes: ['RevisionNotFound'],
    hint: 'name a branch, a tag or a commit of the repository behind the @',
  },
  {
    means: 'HubAccessDenied',
    what: 'the repository is gated',
    codes: ['GatedRepo'],
    hint: 'accept its terms on its page with the account of the token',
  },
  {
    means: 'HubAccessDenied',
    what: 'the repository was disabled',
    codes: ['DisabledRepo'],
  },
  {
    means: 'HubAccessDenied',
    what: 'the hub leads to a host without TLS',
    codes: ['InsecureRedirect'],
    hint: 'storage of a hub with TLS needs https:// URLs',
  },
  {
    means: 'HubAccessDenied',
    what: 'the hub redirects without end, or to no http(s) URL without a user',
    codes: ['TooManyRedirects', 'InvalidRedirect'],
    hint: 'correct the redirects of the hub or of its mirror: at most 5 are followed',
  },
  ...connectionRows<HubMeaning>({
    untrusted: 'HubCertificateUntrusted',
    unavailable: 'HubUnavailable',
    endpoint: 'spec.model.hub.endpoint',
  }),
  {
    means: 'objectAbsent',
    what: 'the file does not exist',
    codes: ['EntryNotFound'],
    statuses: [404],
  },
  {
    means: 'HubAccessDenied',
    what: 'the token is wrong, expired, missing or not allowed to read',
    codes: [],
    statuses: [401, 403],
  },
  {
    means: 'objectChanged',
    what: 'the file is shorter than it was',
    codes: [],
    statuses: [412, 416],
  },
];

/** An answer of no row (429, 5xx) is that of a hub that is busy or fails. */
export function readHubError(error: unknown): StoreErrorReading<HubMeaning> {
  return readStoreError(hubErrorTable, error, () => 'HubUnavailable');
}
