// Where the private directories of our processes are, and what their names look like.

/**
 * In memory where possible: names are made and removed at every start of a program. A variable that is empty or relative
 * names no place, as the XDG specification has it.
 */
export const PRIVATE_PLACES: readonly string[] = [
  process.env['XDG_RUNTIME_DIR'],
  '/dev/shm',
  temporaryFolder(process.env),
].filter((place): place is string => place?.startsWith('/') === true);

/** The number of the owner, when it was started, its namespace. */
export const PRIVATE_NAME = /^hawser-(\d+)\.(\d+)\.(\d+)-/;

/** What node:os would say, which takes a while to load and is asked before the first answer. */
export function temporaryFolder({ TMPDIR, TMP, TEMP }: NodeJS.ProcessEnv): string {
  const given = [TMPDIR, TMP, TEMP].find((each) => each !== undefined && each !== '') ?? '/tmp';
  return given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
}
