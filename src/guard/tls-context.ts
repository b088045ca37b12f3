// What TLS is served with, read from files that settings name, and found fit before the first client comes.

import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { LocalError, toError } from '../base/errors.js';
import { readSecretFile } from './secret-file.js';

/** A file, and the setting that names it: that is what an error has to tell. */
export interface NamedFile {
  readonly setting: string;
  readonly file: string;
}

export interface TlsFiles {
  readonly cert: NamedFile;
  readonly key: NamedFile;
  /** Whoever has a certificate of this authority is let in. */
  readonly ca?: NamedFile | undefined;
}

/** Throws a LocalError for files that cannot be read, or do not belong together. */
export function readTlsContext({ cert, key, ca }: TlsFiles): SecureContextOptions {
  const read = ({ setting, file }: NamedFile, secret: boolean): Buffer =>
    readSecretFile(setting, file, { secret });
  const context: SecureContextOptions = {
    cert: read(cert, false),
    key: read(key, true),
    ...(ca !== undefined && { ca: read(ca, false) }),
    minVersion: 'TLSv1.2',
  };
  try {
    createSecureContext(context); // a key of another certificate is found out now, not by the first client
  } catch (thrown) {
    throw new LocalError('bad_tls', `the TLS files cannot be used: ${toError(thrown).message}`, {
      cause: thrown,
    });
  }
  return context;
}
