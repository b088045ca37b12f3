// Certificates made on the spot by openssl: an authority, a server, two clients of it, and a stranger.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.js';

type Name = 'ca' | 'server' | 'client' | 'other' | 'stranger';
export type Certificates = Readonly<Record<`${Name}.crt` | `${Name}.key`, Buffer>>;

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-certs-'));
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    for (const name of ['ca', 'stranger'])
      openssl(
        'req',
        '-x509',
        ...key,
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.crt`,
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
      );
    writeFileSync(join(folder, 'names.cnf'), 'subjectAltName = DNS:localhost, IP:127.0.0.1\n');
    for (const name of ['server', 'client', 'other']) {
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      openssl(
        'x509',
        '-req',
        '-in',
        `${name}.csr`,
        '-CA',
        'ca.crt',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        'names.cnf',
        '-out',
        `${name}.crt`,
      );
    }
    const names = ['ca', 'server', 'client', 'other', 'stranger'].flatMap((name) => [
      `${name}.crt`,
      `${name}.key`,
    ]);
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(folder, name))]),
    ) as unknown as Certificates;
  } finally {
    removeFolder(folder);
  }
}
