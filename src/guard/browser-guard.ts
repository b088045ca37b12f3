// Keeps web pages away from a loopback server: by Host (DNS rebinding), Origin and Sec-Fetch-Site (cross-site requests).

import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** The head of a request, as node:http gives it. Raw headers, because the parsed ones hide duplicates. */
export interface GuardedRequest {
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
}

export interface BrowserRefusal {
  readonly status: 403;
  readonly code: 'forbidden_host' | 'forbidden_origin' | 'forbidden_cross_site';
  readonly message: string;
}

export interface BrowserGuardOptions {
  /** `permissive` lets everything pass. Say PERMISSIVE_WARNING in the log when it is chosen. */
  readonly mode?: 'loopback' | 'permissive';
  /** Names to answer to besides loopback ones: `name` for any port, or `name:port`. No patterns. */
  readonly hosts?: readonly string[];
  /** Origins to accept besides loopback ones, whole: `https://console.example`. No patterns. */
  readonly origins?: readonly string[];
}

export const PERMISSIVE_WARNING =
  'browser guard is off: any web page open on this machine can send requests here and run commands';

const REFUSALS = {
  host: refusal('forbidden_host', 'the Host of the request is not a loopback address'),
  origin: refusal('forbidden_origin', 'the Origin of the request is not a loopback address'),
  crossSite: refusal('forbidden_cross_site', 'requests from other sites are not accepted'),
} as const;

/**
 * A request passes when its one Host is loopback (and so is the authority of an absolute target), every Origin it has is
 * loopback, and it does not call itself cross-site. A program that is no browser sends no Origin and passes.
 */
export function createBrowserGuard(
  options: BrowserGuardOptions = {},
): (request: GuardedRequest) => BrowserRefusal | undefined {
  if (options.mode === 'permissive') return () => undefined;
  const hosts = new Set((options.hosts ?? []).map((host) => host.toLowerCase()));
  const origins = new Set((options.origins ?? []).map((origin) => origin.toLowerCase()));
  const hostPasses = (authority: string): boolean =>
    isLoopbackAuthority(authority) || isListed(authority, hosts);
  const originPasses = (origin: string): boolean =>
    isLoopbackOrigin(origin) || origins.has(origin.toLowerCase());

  return ({ url, rawHeaders }) => {
    let hostCount = 0;
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const value = rawHeaders[i + 1] ?? '';
      switch (rawHeaders[i]?.toLowerCase()) {
        case 'host':
          hostCount += 1;
          if (!hostPasses(value)) return REFUSALS.host;
          break;
        case 'origin':
          if (!originPasses(value)) return REFUSALS.origin;
          break;
        case 'sec-fetch-site':
          if (/\bcross-site\b/i.test(value)) return REFUSALS.crossSite;
          break;
        default:
      }
    }
    return hostCount === 1 && targetPasses(url ?? '/', hostPasses) ? undefined : REFUSALS.host;
  };
}

/** `host` or `host:port` of this machine and no other. Spellings a browser would never send are not worth the risk. */
export function isLoopbackAuthority(authority: string): boolean {
  const parts = AUTHORITY.exec(authority);
  if (parts === null || Number(parts[3] ?? 0) > MAX_PORT) return false;
  const [, bracketed, name] = parts;
  if (bracketed !== undefined) return isIPv6(bracketed) && LOOPBACK.check(bracketed, 'ipv6');
  if (name === undefined) return false;
  return LOCALHOST.test(name) || (name.startsWith('127.') && isIPv4(name));
}

const MAX_PORT = 65_535;
/** No user information, no path, no escapes: `[v6]` or a plain name, then perhaps a port. */
const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::([0-9]{0,5}))?$/i;
/** Not `x.localhost`: not every resolver keeps it on this machine. The dot is the root's, as in any full name. */
const LOCALHOST = /^localhost\.?$/i;
const ORIGIN = /^https?:\/\/(.+)$/i;
const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)/i;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4'); // also as ::ffff:127.0.0.1, which BlockList sees through
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopbackOrigin(origin: string): boolean {
  const authority = ORIGIN.exec(origin)?.[1];
  return authority !== undefined && isLoopbackAuthority(authority);
}

function isListed(authority: string, hosts: ReadonlySet<string>): boolean {
  if (hosts.size === 0) return false;
  const lower = authority.toLowerCase();
  return hosts.has(lower) || hosts.has(lower.replace(/:[0-9]{0,5}$/, ''));
}

/** `GET http://host/path` names a host of its own, and by the book it counts for more than the header. */
function targetPasses(target: string, hostPasses: (authority: string) => boolean): boolean {
  if (target.startsWith('/') || target === '*') return true;
  const authority = ABSOLUTE_TARGET.exec(target)?.[1];
  return authority !== undefined && hostPasses(authority);
}

function refusal(code: BrowserRefusal['code'], message: string): BrowserRefusal {
  return { status: 403, code, message };
}
