// Where a stringd is, and as whom one speaks to it, unless said otherwise: what clients and the daemon agree on.

export const DEFAULT_PORT = 3923;
export const DEFAULT_AGENT = 'default';
