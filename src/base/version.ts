// The version of this package, as every executable reports it. A test compares it with package.json.

export const VERSION = '0.1.0';
