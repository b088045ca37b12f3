// The hub that models come from: where it is, who we are to it, and what its refusals mean.

import { HugindError } from '../errors.js';

const DEFAULT_ENDPOINT = 'https://huggingface.co';

export interface Hub {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly token: string | undefined;
}

/** HF_ENDPOINT and HF_TOKEN, as other programs of the hub have them; a stored token where there is none. */
export function findHub(env: NodeJS.ProcessEnv, storedToken: string | undefined): Hub {
  const given = env['HF_ENDPOINT'];
  const endpoint = (given === undefined || given === '' ? DEFAULT_ENDPOINT : given).replace(/\/+$/, '');
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new HugindError(
      'invalid_params',
      'HF_ENDPOINT must be an address that begins with http:// or https://',
    );
  const own = env['HF_TOKEN'];
  const token = own === undefined || own === '' ? storedToken : own.trim();
  if (token !== undefined && /[^\x21-\x7e]/.test(token))
    throw new HugindError('invalid_params', 'HF_TOKEN has characters that no token has');
  return { endpoint, token };
}

export function listingUrl({ endpoint }: Hub, repo: string): string {
  return `${endpoint}/api/models/${repo}/tree/main?recursive=true&expand=false`;
}

export function modelUrl({ endpoint }: Hub, repo: string): string {
  return `${endpoint}/api/models/${repo}?blobs=true`;
}

export function fileUrl({ endpoint }: Hub, repo: string, file: string): string {
  return `${endpoint}/${repo}/resolve/main/${file.split('/').map(encodeURIComponent).join('/')}`;
}

export interface HubRefusal {
  readonly status: number;
  /** `GatedRepo`, `RepoNotFound`, `EntryNotFound`: the hub's own word. */
  readonly errorCode: string | undefined;
  /** Seconds, or a date; as it came. */
  readonly retryAfter?: string | undefined;
}

/** What is worth another attempt. */
export function isPassing({ status }: HubRefusal): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

export function explainRefusal(refusal: HubRefusal, hub: Hub, repo: string, file?: string): HugindError {
  const { status, errorCode } = refusal;
  const what = file === undefined ? repo : `${repo}/${file}`;
  if (
    errorCode === 'GatedRepo' ||
    (status === 403 && errorCode === undefined) ||
    (status === 401 && errorCode === undefined)
  )
    return new HugindError(
      'permission_denied',
      hub.token === undefined
        ? `${repo} is gated or private: accept its terms at ${hub.endpoint}/${repo}, then give a token by HF_TOKEN or config.defaults {"hf_token": …}`
        : `${repo} is gated or private, and the token that was sent does not open it: accept its terms at ${hub.endpoint}/${repo} with the token's account`,
      { data: { repo, status, ...(errorCode !== undefined && { error_code: errorCode }) } },
    );
  if (status === 404 || errorCode === 'RepoNotFound')
    return new HugindError(
      'not_found',
      file === undefined || errorCode === 'RepoNotFound'
        ? `Repository '${repo}' not found on ${hub.endpoint}, or it is private`
        : `File '${file}' not found in repo ${repo}`,
    );
  if (status === 401 || status === 403)
    return new HugindError(
      'permission_denied',
      `the hub refuses ${what} (HTTP ${status}${errorCode === undefined ? '' : `, ${errorCode}`})`,
    );
  return new HugindError('upstream_error', `the hub answered HTTP ${status} for ${what}`, {
    data: { status },
  });
}
