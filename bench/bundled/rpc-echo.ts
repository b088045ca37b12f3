// Our peer on stdio, answering `echo`: bare, or (with the argument `router`) through a method table that checks params.

import * as z from 'zod/mini';
import { defineMethod } from '../../src/wire/jsonrpc/method.js';
import { RpcPeer } from '../../src/wire/jsonrpc/peer.js';
import { Router } from '../../src/wire/jsonrpc/router.js';
import { processLink } from '../../src/wire/transport/stdio.js';

const Echo = defineMethod({
  name: 'echo',
  params: z.looseObject({
    session_id: z.string(),
    path: z.string(),
    offset: z.optional(z.int()),
    flags: z.optional(z.array(z.nullable(z.boolean()))),
  }),
  result: z.unknown(),
  errors: [],
  summary: 'Gives its params back.',
});

const router = new Router<undefined>().method(Echo, (params) => params);
const peer = new RpcPeer(processLink(), {
  onRequest:
    process.argv[2] === 'router'
      ? ({ method, params }) => router.call(method, params, undefined)
      : ({ params }) => params,
});
await peer.closed;
