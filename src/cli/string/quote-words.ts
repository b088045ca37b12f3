// Words of a command line put together again, so that whoever splits the text gets the same words.

/** Nothing in it means anything to String's splitting of words, nor to a shell. */
const PLAIN = /^[\w@%+=:,./#{}[\]$*?~!^-]+$/u;

/** One word is sent as it was written: it is the whole command. Of several the first names the command. */
export function joinWords(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  return rest.length === 0 ? first : [first, ...rest.map(quoteWord)].join(' ');
}

/** What follows the target of an edit is text and not words: it goes as the body, in which nothing is quoted. */
export function joinEditWords([command = '', ...words]: readonly string[]): string {
  const isFlag = (word: string | undefined): boolean => word === '--force' || word === '--all';
  let head = words.findIndex((word) => !isFlag(word)) + 1;
  if (head === 0) head = words.length;
  while (isFlag(words[head])) head += 1;
  const edit = joinWords([command, ...words.slice(0, head)]);
  return words.length > head ? `${edit}\n${words.slice(head).join(' ')}` : edit;
}

/** For a shell the first word is one like the others; one alone is a whole command line. */
export function joinShellWords(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? '') : words.map(quoteShellWord).join(' ');
}

function quoteWord(word: string): string {
  return PLAIN.test(word) ? word : quoted(word);
}

const PLAIN_IN_SHELL = /^[\w@%+=:,./-]+$/u;

function quoteShellWord(word: string): string {
  return PLAIN_IN_SHELL.test(word) ? word : quoted(word);
}

/** No escapes: a run without `'` in single quotes, a run of `'` in double ones. */
function quoted(word: string): string {
  if (word === '') return "''";
  return (word.match(/'+|[^']+/gu) ?? [])
    .map((run) => (run.startsWith("'") ? `"${run}"` : `'${run}'`))
    .join('');
}
