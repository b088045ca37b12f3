// MCP over HTTP as the SDK itself does it: its handler, one tool that answers with a text, and nothing around them.
// Usage: bare-mcp PORT TEXT

import { createServer, type IncomingMessage } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const [, , port, text = ''] = process.argv;

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1' });
  server.registerTool(
    'string',
    { description: 'Answers.', inputSchema: z.object({ topic: z.string(), cmd: z.string() }) },
    () => ({ content: [{ type: 'text', text }] }),
  );
  return server;
});

createServer((req, res) => {
  void (async () => {
    const response = await handler.fetch(await toRequest(req));
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  })();
}).listen(Number(port), '127.0.0.1');

async function toRequest(req: IncomingMessage): Promise<Request> {
  const parts: Buffer[] = [];
  for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
  const headers = Object.entries(req.headers).filter(([name]) => name !== 'connection');
  return new Request(`http://127.0.0.1${req.url}`, {
    method: 'POST',
    headers: headers as [string, string][],
    body: Buffer.concat(parts),
  });
}
