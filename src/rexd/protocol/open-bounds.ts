// What bounds session.open, apart from its schema: the first answer of a connection is given without one.

export const PROTOCOL = 'rexd/1';
export const SESSION_OPEN = 'session.open';

/** Of what a client says of itself; it is for the log. */
export const MAX_CLIENT_CHARS = 256;
/** Roots, or capabilities, that one session may ask for: each is compared with all there are. */
export const MAX_REQUESTED = 64;
/** Algorithms that one request may name. */
export const MAX_ALGORITHMS = 16;
/** Longest path taken; the kernel's own limit. */
export const MAX_PATH_CHARS = 4096;
