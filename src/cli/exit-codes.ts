// Exit codes of every executable, as the design lists them.

export const EXIT = { ok: 0, failed: 1, usage: 2, timeout: 124, interrupted: 130 } as const;
