// An action that makes a request.

import { STATUS_CODES } from 'node:http';
import { TimeoutError } from '../../base/deadline.js';
import { RefusedError } from '../refused.js';
import { type CommandResult, type ErrorCode, fail, show, succeed } from '../result.js';
import { CapturedOutput } from '../shell/captured-output.js';
import {
  guardedRequest,
  type GuardedResponse,
  type Reach,
  REQUEST_TIMEOUT_MS,
} from '../web/guarded-request.js';
import { AddressRefusedError, RequestFailedError } from '../web/request-errors.js';
import type { Action } from './action.js';
import { answer } from './answer.js';
import { type BodyValues, encodePart } from './fill-body.js';
import { type FilledRequest, fillRequest, UnfitRequestError } from './fill-request.js';
import type { Inputs } from './read-inputs.js';
import { readAgentFile, type Scene } from './scene.js';
import { showText } from './show-text.js';

/** Of an answer that reports a failure. */
export const MAX_ERROR_BODY_CHARS = 500;
/** A shorter secret would hide half of any text. */
const HIDDEN_SECRET_CHARS = 6;

export async function runHttpAction(scene: Scene, action: Action, inputs: Inputs): Promise<CommandResult> {
  const request = await fillRequest(action, valuesOf(scene, action, inputs));
  if (inputs.dryRun) return succeed(`Dry run: ${action.id}`, describeRequest(action, request));
  const { signal, runtime, session } = scene.call;
  const timeoutMs = action.timeoutMs ?? REQUEST_TIMEOUT_MS;
  let response: GuardedResponse;
  try {
    response = await guardedRequest({
      url: absolute(scene, request.url),
      method: action.method,
      headers: request.headers,
      ...(request.body !== undefined && { body: request.body }),
      signal,
      timeoutMs,
      reach: reachOf(scene, action),
    });
  } catch (thrown) {
    if (signal.aborted) return fail('CANCELLED', `Cancelled: act.${action.id}`);
    if (thrown instanceof TimeoutError) return fail('TIMEOUT', `Timed out after ${timeoutMs / 1000} s`);
    if (thrown instanceof AddressRefusedError)
      return fail('POLICY_DENIED', hideSecrets(scene, thrown.message));
    if (thrown instanceof RequestFailedError) return fail('LOAD_ERROR', hideSecrets(scene, thrown.message));
    throw thrown;
  }
  const text = response.body.toString('utf8');
  if (response.status < 200 || response.status > 299) return refusal(scene, response.status, text);
  const template = scene.actions.responseOf(action.id);
  if (template !== undefined)
    return await answer(scene, {
      action,
      inputs,
      template,
      response: { status: response.status, body: bodyOf(text), headers: response.headers },
      failed: false,
    });
  const output = new CapturedOutput({ spoolDir: runtime.spoolDir });
  output.push(Buffer.from(await showText(scene, text, response.headers['content-type']), 'utf8'));
  output.end();
  if (output.spool !== undefined) await runtime.shells.keepSpool(session.topic.name, output.spool);
  const shown = await output.text();
  return show(shown === '' ? `HTTP ${response.status} (no content)` : shown);
}

/** A slot before the path begins. */
const HOST_OF_CALLER = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*\{/iu;

/** A stranger's page talks to where it came from. The address that a caller gives to a package is not one of its own. */
function reachOf({ trust, loaded, policy }: Scene, { target }: Action): Reach {
  if (trust === 'remote') return { origin: new URL(loaded.uri).origin };
  if (!policy.allows(trust, 'private')) return 'public';
  return trust === 'installed' && HOST_OF_CALLER.test(target) ? 'public' : 'any';
}

function absolute(scene: Scene, url: string): string {
  const { loaded, trust } = scene;
  if (trust === 'remote' && /^file:/iu.test(url))
    throw new RefusedError(
      fail('FILE_NOT_ALLOWED', `A page from the web may not lead to files of this machine: ${url}`),
    );
  if (URL.canParse(url)) return url;
  if (loaded.remote && URL.canParse(url, loaded.uri)) return new URL(url, loaded.uri).href;
  throw new UnfitRequestError(hideSecrets(scene, `Not an address: ${url}`));
}

function refusal(scene: Scene, status: number, text: string): CommandResult {
  const codes: Readonly<Record<number, ErrorCode>> = {
    401: 'AUTH_REQUIRED',
    403: 'AUTH_REQUIRED',
    404: 'NOT_FOUND',
  };
  const excerpt = hideSecrets(scene, text.trim()).slice(0, MAX_ERROR_BODY_CHARS);
  const reason = STATUS_CODES[status];
  const message = `HTTP ${status}${reason === undefined ? '' : ` ${reason}`}`;
  return fail(codes[status] ?? 'LOAD_ERROR', message, ...(excerpt === '' ? [] : [excerpt]));
}

/** What a server repeats of a request in its complaint shall not be told on. */
function hideSecrets({ env }: Scene, text: string): string {
  let shown = text;
  for (const [name, value] of env)
    if (value.length >= HIDDEN_SECRET_CHARS)
      for (const form of formsOf(value)) shown = shown.replaceAll(form, `$${name}`);
  return shown;
}

/** As it is, and as it stands in an address. */
function formsOf(secret: string): Set<string> {
  const address = new URL('http://h/');
  address.search = secret;
  address.pathname = secret;
  return new Set([secret, encodePart(secret), address.search.slice(1), address.pathname.slice(1)]);
}

function valuesOf(scene: Scene, action: Action, inputs: Inputs): BodyValues {
  const { call, env, context } = scene;
  const { dryRun, secretDefaults } = inputs;
  const values = dryRun ? new Map([...inputs.values, ...secretDefaults]) : inputs.values;
  return {
    values,
    variables: call.session.variables,
    env: (name) => (dryRun && env.has(name) ? `$${name}` : env.get(name)),
    context: (name) => (name === 'ARGS' ? inputs.args.join(' ') : context.get(name)),
    isDeclared: (name) => action.fields.some((field) => field.name === name),
    readFile: async (path) => {
      const data = await readAgentFile(scene, path);
      if (!Buffer.isBuffer(data)) throw new RefusedError(data);
      return data;
    },
  };
}

function describeRequest({ method }: Action, { url, headers, body }: FilledRequest): string {
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  return body === undefined ? lines.join('\n') : `${lines.join('\n')}\n\n${body.toString()}`;
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
