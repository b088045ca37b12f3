// Whether a host is this machine or a neighbour of it, as far as its name tells.

import { BlockList, isIP } from 'node:net';

/** A name that leads there by DNS is not seen: what is fetched goes into a file of the store, and is never shown. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(host);
  if (family === 0)
    return (
      host === 'localhost' || host.endsWith('.localhost') || host.endsWith('.local') || !host.includes('.')
    );
  return blocked.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

const blocked = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  blocked.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  blocked.addSubnet(net, bits, 'ipv6');
}
