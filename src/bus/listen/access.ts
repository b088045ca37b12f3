// Who may come in over TCP: whoever knows the token, or has a certificate of our authority.

import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { checkToken, isSameToken } from '../../guard/bearer.js';
import { isLoopbackHost, ListenAddressError } from '../../guard/listen-address.js';
import { readSecretFile } from '../../guard/secret-file.js';
import { readTlsContext } from '../../guard/tls-context.js';
import type { BusConfig } from '../config/schema.js';
import { TOKEN_VARIABLE } from '../workers/worker-environment.js';

type Security = BusConfig['security'];

export class Access {
  readonly #given: string | undefined;
  #token: string | undefined;
  #tls: SecureContextOptions | undefined;
  #asksCertificate = false;

  /** Takes the token out of `env`, so that no worker can have it from there. Throws for what cannot be used. */
  constructor(security: Security, env: NodeJS.ProcessEnv) {
    const given = env[TOKEN_VARIABLE];
    delete env[TOKEN_VARIABLE];
    this.#given = given === '' ? undefined : given;
    this.reload(security);
  }

  /** Reads the files again. What was read before holds on if they cannot be. */
  reload(security: Security): void {
    const token = readToken(this.#given, security.tokenFile);
    const tls = readTls(security.tls);
    this.#token = token;
    this.#tls = tls;
    this.#asksCertificate = security.tls?.ca !== undefined;
  }

  /** Undefined when no token is asked for. */
  get checkToken(): ((given: string) => boolean) | undefined {
    const token = this.#token;
    return token === undefined ? undefined : (given) => isSameToken(given, token);
  }

  get secureContext(): SecureContextOptions | undefined {
    return this.#tls;
  }

  get tls(): TlsOptions | undefined {
    if (this.#tls === undefined) return undefined;
    // Strangers are refused before a byte of theirs is read as a message.
    return { ...this.#tls, ...(this.#asksCertificate && { requestCert: true, rejectUnauthorized: true }) };
  }

  /** Whether a token would go over the network for everybody to read. */
  get isInTheClear(): boolean {
    return this.#tls === undefined;
  }

  /** Throws a ListenAddressError that tells what to do, when other machines could reach `host` unasked. */
  assertMayListen(host: string, allowRemote: boolean): void {
    if (isLoopbackHost(host)) return;
    if (!allowRemote)
      throw new ListenAddressError(
        `${host} can be reached by other machines: pass --allow-remote as well, or listen on 127.0.0.1`,
      );
    if (this.#token !== undefined || this.#asksCertificate) return;
    throw new ListenAddressError(
      [
        `${host} can be reached by other machines, and whoever reached it could use every worker. Either`,
        `  set ${TOKEN_VARIABLE}, for example: ${TOKEN_VARIABLE}=$(openssl rand -hex 32)`,
        '  or set security.tokenFile in the configuration',
        '  or set security.tls with cert, key and ca: then clients need a certificate',
      ].join('\n'),
    );
  }
}

function readToken(given: string | undefined, file: string | undefined): string | undefined {
  if (given !== undefined) return checkToken(TOKEN_VARIABLE, given);
  if (file === undefined) return undefined;
  return checkToken(
    file,
    readSecretFile('security.tokenFile', file, { secret: true }).toString('utf8').trim(),
  );
}

function readTls(files: Security['tls']): SecureContextOptions | undefined {
  if (files === undefined) return undefined;
  const { cert, key, ca } = files;
  return readTlsContext({
    cert: { setting: 'security.tls.cert', file: cert },
    key: { setting: 'security.tls.key', file: key },
    ca: ca === undefined ? undefined : { setting: 'security.tls.ca', file: ca },
  });
}
