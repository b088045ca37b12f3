// The least an HTTP answer can cost: node:http, and the bytes that it was started with.
// Usage: bare-http PORT HEADERS-AS-JSON BODY

import { createServer } from 'node:http';

const [, , port, headers = '{}', body = ''] = process.argv;
const sent = {
  ...(JSON.parse(headers) as Record<string, string>),
  'Content-Length': Buffer.byteLength(body),
};

createServer((req, res) => {
  req.resume();
  res.writeHead(200, sent);
  res.end(body);
}).listen(Number(port), '127.0.0.1');
