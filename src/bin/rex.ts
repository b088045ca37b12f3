// The executable `rex`.

void start();

/** By import(): so the bundle keeps what every call needs apart from what only some commands do. */
async function start(): Promise<void> {
  const { runRex } = await import('../cli/rex/program.js');
  await runRex(process.argv.slice(2));
}
