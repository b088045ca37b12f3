// Who may come in: whoever knows the token, or has a certificate of our authority; both, where both are asked for.

import type { IncomingMessage } from 'node:http';
import { type SecureContextOptions, TLSSocket, type TlsOptions } from 'node:tls';
import { LocalError } from '../../base/errors.js';
import { HttpError } from '../../wire/http/errors.js';
import { type DaemonSettings, TOKEN_FILE_VARIABLE } from '../settings.js';
import { checkToken, isSameToken, readBearer } from '../../guard/bearer.js';
import { readSecretFile } from '../../guard/secret-file.js';
import { readTlsContext } from '../../guard/tls-context.js';

export const TOKEN_VARIABLE = 'REXD_TOKEN';
/** Shorter ones can be guessed by whoever has the time; said in the log, not refused. */
export const SHORT_TOKEN_CHARS = 16;

type AccessSettings = Pick<DaemonSettings, 'token' | 'token_file' | 'tls_cert' | 'tls_key' | 'tls_client_ca'>;

export class Access {
  readonly #settings: AccessSettings;
  readonly #given: string | undefined;
  /** Named by the environment: there systemd puts an empty file where there is no token. */
  readonly #passedFile: string | undefined;
  #token: string | undefined;
  #tls: SecureContextOptions | undefined;

  /** Takes the token out of `env`, so that nothing we start can have it from there. Throws for what cannot be used. */
  constructor(settings: AccessSettings, env: NodeJS.ProcessEnv) {
    this.#given = takeFrom(env, TOKEN_VARIABLE);
    this.#passedFile = takeFrom(env, TOKEN_FILE_VARIABLE);
    this.#settings = settings;
    this.reload();
  }

  /** Reads the files again. What was read before holds on if they cannot be. */
  reload(): void {
    const token = readToken(this.#given, this.#passedFile, this.#settings);
    const tls = readTls(this.#settings);
    this.#token = token;
    this.#tls = tls;
  }

  get isShort(): boolean {
    return this.#token !== undefined && this.#token.length < SHORT_TOKEN_CHARS;
  }

  get secureContext(): SecureContextOptions | undefined {
    return this.#tls;
  }

  get tls(): TlsOptions | undefined {
    if (this.#tls === undefined) return undefined;
    // Strangers are refused before a byte of theirs is read as HTTP.
    return { ...this.#tls, ...(this.#asksCertificate && { requestCert: true, rejectUnauthorized: true }) };
  }

  /** Throws unless there is something that keeps strangers out. */
  assertGuarded(): void {
    if (this.#token !== undefined || this.#asksCertificate) return;
    throw new LocalError(
      'no_authentication',
      [
        'HTTP is not served without authentication: whoever reached it could run commands here. Either',
        `  set ${TOKEN_VARIABLE}, for example: ${TOKEN_VARIABLE}=$(openssl rand -hex 32) rexd --http 127.0.0.1:8040`,
        '  or set server.token_file (or server.token) in the configuration',
        '  or set server.tls_cert, server.tls_key and server.tls_client_ca: then clients need a certificate',
      ].join('\n'),
    );
  }

  /** Throws HttpError 401. Gives who it is that asks: sessions belong to that one. */
  authorise(req: IncomingMessage): string {
    const holder = this.#asksCertificate ? certificateOf(req) : 'token';
    if (holder === undefined) throw unauthorised('a client certificate is needed');
    if (this.#token === undefined) return holder;
    const given = readBearer(req.headers.authorization);
    if (given === undefined) throw unauthorised('send the token as "Authorization: Bearer TOKEN"');
    if (!isSameToken(given, this.#token)) throw unauthorised('the token is not the right one');
    return holder;
  }

  get #asksCertificate(): boolean {
    return this.#settings.tls_client_ca !== undefined;
  }
}

function unauthorised(message: string): HttpError {
  return new HttpError(401, 'unauthorized', message, {
    headers: { 'WWW-Authenticate': 'Bearer realm="rexd"' },
  });
}

function certificateOf({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  return socket.getPeerCertificate().fingerprint256;
}

function takeFrom(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name];
  delete env[name];
  return value === '' ? undefined : value;
}

function readToken(
  given: string | undefined,
  passedFile: string | undefined,
  { token_file: file, token }: AccessSettings,
): string | undefined {
  if (given !== undefined) return checkToken(TOKEN_VARIABLE, given);
  const passed = passedFile === undefined ? '' : readTokenFile(TOKEN_FILE_VARIABLE, passedFile);
  if (passed !== '') return checkToken(passedFile ?? '', passed);
  if (file !== undefined) return checkToken(file, readTokenFile('server.token_file', file));
  return token === undefined ? undefined : checkToken('server.token', token);
}

function readTokenFile(key: string, file: string): string {
  return readSecretFile(key, file, { secret: true }).toString('utf8').trim();
}

function readTls(settings: AccessSettings): SecureContextOptions | undefined {
  const { tls_cert: cert, tls_key: key, tls_client_ca: ca } = settings;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new LocalError('bad_tls', 'TLS needs both server.tls_cert and server.tls_key');
  return readTlsContext({
    cert: { setting: 'server.tls_cert', file: cert },
    key: { setting: 'server.tls_key', file: key },
    ca: ca === undefined ? undefined : { setting: 'server.tls_client_ca', file: ca },
  });
}
