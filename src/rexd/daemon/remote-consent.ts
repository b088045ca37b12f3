// Whether a socket may be opened that other machines can reach.

import { isLoopbackHost, ListenAddressError } from '../../guard/listen-address.js';

/** What has to be said before a socket is opened that other machines can reach. */
export interface RemoteConsent {
  readonly allow_remote: boolean;
  readonly behind_proxy: boolean;
  readonly hasTls: boolean;
}

/** Throws a ListenAddressError that tells what to do. */
export function assertMayListen(host: string, consent: RemoteConsent): void {
  if (isLoopbackHost(host)) return;
  if (!consent.allow_remote)
    throw new ListenAddressError(
      `${host} can be reached by other machines: pass --allow-remote or set server.allow_remote, or listen on 127.0.0.1`,
    );
  if (!consent.hasTls && !consent.behind_proxy)
    throw new ListenAddressError(
      `${host} can be reached by other machines, which would send the token in the clear: set server.tls_cert and server.tls_key, or server.behind_proxy when a reverse proxy speaks TLS`,
    );
}
