// The question whether one path lies in another.

/** By whole names: `/srv/app2` is not inside `/srv/app`. */
export function isInside(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory === '/' || path.charCodeAt(directory.length) === SLASH;
}

const SLASH = 0x2f;
