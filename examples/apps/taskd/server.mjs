// A small server of tasks on this machine: TASKD_TOKEN=secret node server.mjs [PORT]. It prints its address when it listens.

import { createServer } from 'node:http';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_TASKS = 1000;
const SLOW_MS = 3000;
const BIG_BYTES = 5_000_000;

const token = process.env.TASKD_TOKEN ?? 'secret';
const tasks = new Map();
let lastId = 0;

const server = createServer(async (request, response) => {
  try {
    await route(request, response);
  } catch (error) {
    send(response, error.status ?? 400, { error: error.message });
  }
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.close().closeAllConnections());

async function route(request, response) {
  if (request.headers.authorization !== `Bearer ${token}`)
    return send(response, 401, { error: 'wrong token' });
  const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
  const [, first, id] = pathname.split('/').map(decodeURIComponent);
  const asked = `${request.method} /${first}${id === undefined ? '' : '/:id'}`;
  switch (asked) {
    case 'GET /tasks': {
      const state = searchParams.get('state');
      const found = [...tasks.values()].filter((task) => state === null || task.state === state);
      return send(response, 200, { total: found.length, tasks: found });
    }
    case 'POST /tasks': {
      const { title, note = '' } = await read(request);
      if (typeof title !== 'string' || title === '')
        return send(response, 422, { error: 'a task needs a title' });
      if (tasks.size >= MAX_TASKS) return send(response, 507, { error: 'too many tasks' });
      const task = { id: String((lastId += 1)), title, note, state: 'open' };
      tasks.set(task.id, task);
      return send(response, 201, task);
    }
    case 'PATCH /tasks/:id': {
      const { state } = await read(request);
      const task = tasks.get(id);
      if (task === undefined) return send(response, 404, { error: `no task ${id}` });
      task.state = state;
      return send(response, 200, task);
    }
    case 'DELETE /tasks/:id':
      return tasks.delete(id)
        ? send(response, 200, { deleted: id })
        : send(response, 404, { error: `no task ${id}` });
    case 'POST /hook-me': {
      const { url, text } = await read(request);
      if (!/^http:\/\/127\.0\.0\.1:\d+\/webhook\//.test(url))
        return send(response, 422, { error: 'not a webhook of this machine' });
      const answer = await fetch(url, {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'text/plain' },
      });
      return send(response, 200, { posted: answer.status });
    }
    case 'GET /slow':
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return send(response, 200, { slow: true });
    case 'GET /boom':
      return send(response, 500, { error: 'boom' });
    case 'GET /page':
      response.setHeader('content-type', 'text/html');
      return response.end(
        '<html><body><nav>menu</nav><main><h1>Tasks</h1><p>A <b>page</b>.</p></main></body></html>',
      );
    case 'GET /big':
      response.setHeader('content-type', 'text/plain');
      return response.end(`${'x'.repeat(99)}\n`.repeat(BIG_BYTES / 100));
    default:
      return send(response, 404, { error: `nothing at ${pathname}` });
  }
}

async function read(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw Object.assign(new Error('too large'), { status: 413 });
  }
  return JSON.parse(text);
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
