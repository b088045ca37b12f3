// Which addresses are on the public internet: everything that is this machine, its network or nobody's is not.

import { BlockList, isIP, isIPv4 } from 'node:net';

/** Of IPv4: this host, private, shared (CGNAT), loopback, link-local, reserved, documentation, benchmarks, multicast. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within the global unicast block 2000::/3, the only one that counts: tunnels that hide an IPv4 address, and examples. */
const NOT_PUBLIC_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const closed = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_V4) closed.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of NOT_PUBLIC_V6) closed.addSubnet(net, prefix, 'ipv6');
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/** False for what is no address, too. IPv4 in the clothes of IPv6 (`::ffff:…`) is never public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, 'ipv4');
  return isIP(address) === 6 && global.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

/** Of a URL's host name: `localhost`, `127.…`, `[::1]`. Only what says so by itself, not what DNS says today. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/gu, '').toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}
