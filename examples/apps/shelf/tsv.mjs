// Lines with tabs on standard input, as JSON with the names given: printf 'a\tb\n' | node tsv.mjs one two

const names = process.argv.slice(2);
let text = '';
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
const rows = text
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const cells = line.split('\t');
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
  });
process.stdout.write(`${JSON.stringify({ rows })}\n`);
