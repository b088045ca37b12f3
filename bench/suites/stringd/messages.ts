// The requests of the stringd suite, as they go over the wire.

export const AGENT = 'bench';

export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function encodeRequest({ method, path, headers = {}, body = '' }: Message): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

export function execMessage(topic: string, cmd: string): Message {
  return {
    method: 'POST',
    path: '/exec',
    headers: { 'X-Agent-Id': AGENT, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ cmd, topic }),
  };
}

export type McpEra = 'initialize era' | '2026-07-28';

/** One call of the one tool. */
export function toolCall(era: McpEra, topic: string, cmd: string): Message {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': era,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const isStateless = era === '2026-07-28';
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      'X-Agent-Id': AGENT,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': isStateless ? era : '2025-11-25',
      ...(isStateless && { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'string' }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'string', arguments: { topic, cmd }, ...(isStateless && { _meta: meta }) },
    }),
  };
}
