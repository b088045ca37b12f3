// A word for a shell, as it is: what the login shell of a host is given goes through one.

/** Single quotes are read alike by sh, bash, zsh, fish and csh. */
export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
