// A size as people say it.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function sayBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
