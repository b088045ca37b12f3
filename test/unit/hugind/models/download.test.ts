import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newAbort } from '../../../../src/base/abort.js';
import { lockFile } from '../../../../src/host/store/file-lock.js';
import {
  type Download,
  DOWNLOAD_LOCK_MS,
  downloadFile,
  MAX_UNTOLD_BYTES,
  SPARE_DISK_BYTES,
} from '../../../../src/hugind/models/download.js';
import type { Hub } from '../../../../src/hugind/models/hub.js';
import {
  getFromHub,
  HUB_SILENCE_MS,
  MAX_HUB_REDIRECTS,
  MAX_REDIRECT_CHARS,
} from '../../../../src/hugind/models/hub-request.js';
import { listHubFiles, MAX_LISTING_BYTES, MAX_LISTING_PAGES } from '../../../../src/hugind/models/listing.js';
import { noteOf, partOf } from '../../../../src/hugind/models/part-names.js';
import { isPrivateHost } from '../../../../src/hugind/models/private-host.js';
import {
  MAX_RETRY_PAUSE_MS,
  MAX_VAIN_ATTEMPTS,
  retrying,
  TryAgainError,
} from '../../../../src/hugind/models/retrying.js';
import { HugindError } from '../../../../src/hugind/errors.js';
import { FakeHub, sendFile, sha256 } from '../../../helpers/hub.js';
import { runs } from '../../../helpers/runs.js';
import { makeScratch } from '../../../helpers/scratch.js';

const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 7)) & 255));
const signal = newAbort().signal;

function plan(hub: FakeHub, more: Partial<Download> = {}): Download {
  return {
    hub: { endpoint: hub.url, token: undefined },
    repo: 'u/r',
    file: { name: 'a.gguf', size: BYTES.length, sha256: sha256(BYTES) },
    path: join(makeScratch(), 'a.gguf'),
    signal,
    onProgress: () => {},
    firstPauseMs: 1,
    ...more,
  };
}

const isDownload = (path: string): boolean => path.includes('/resolve/');

test('cut anywhere, again and again, it goes on where it was and is whole in the end', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  const point = fc.integer({ min: 1, max: BYTES.length - 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(point, { minLength: 1, maxLength: 3 }), async (points) => {
      const cuts = points.sort((a, b) => a - b);
      const before = hub.asked.length;
      hub.behave = (_, res, asked) => {
        const cut = cuts.shift();
        if (cut === undefined || !isDownload(asked.path)) return false;
        sendFile(res, BYTES, asked, cut);
        return true;
      };
      const seen: number[] = [];
      const download = plan(hub, { onProgress: (bytes) => seen.push(bytes) });
      await downloadFile(download);
      expect(sha256(readFileSync(download.path))).toBe(sha256(BYTES));
      expect(readdirSync(dirname(download.path))).toEqual(['a.gguf']);
      expect(seen).toEqual([...seen].sort((a, b) => a - b)); // nothing was fetched twice
      expect(hub.asked.length - before).toBeGreaterThan(1);
    }),
    { numRuns: runs(50, 5) },
  );
});

test('what one attempt has got, the next goes on with; it has no plain name before it is whole', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  const controller = newAbort();
  const download = plan(hub, {
    signal: controller.signal,
    onProgress: (bytes) => bytes > 0 && controller.abort(new Error('off')),
  });
  hub.behave = (_, res, asked) => {
    if (!isDownload(asked.path)) return false;
    res.writeHead(200, { etag: '"e"', 'content-length': BYTES.length }).write(BYTES.subarray(0, 1000));
    return true;
  };
  await expect(downloadFile(download)).rejects.toThrow('off');
  expect(existsSync(download.path)).toBe(false);
  expect(readFileSync(partOf(download.path))).toEqual(BYTES.subarray(0, 1000));
  hub.behave = (_, res, asked) => {
    expect(asked).toMatchObject({ range: 'bytes=1000-', ifRange: '"e"' });
    res
      .writeHead(206, { etag: '"e"', 'content-range': `bytes 1000-${BYTES.length - 1}/${BYTES.length}` })
      .end(BYTES.subarray(1000));
    return true;
  };
  await downloadFile({ ...download, signal, onProgress: () => {} });
  expect(sha256(readFileSync(download.path))).toBe(sha256(BYTES));
});

test('a part that is of something else, or damaged, is begun anew', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  const notes = [
    'no JSON',
    '{"url":"http://elsewhere/","etag":"\\"e\\""}',
    JSON.stringify({ url: `${hub.url}/u/r/resolve/main/a.gguf`, size: 5, sha256: sha256(BYTES) }),
    JSON.stringify({ url: `${hub.url}/u/r/resolve/main/a.gguf`, size: BYTES.length, sha256: sha256(BYTES) }),
  ];
  for (const note of notes) {
    const download = plan(hub);
    mkdirSync(dirname(download.path), { recursive: true });
    writeFileSync(partOf(download.path), 'these bytes are of something else');
    writeFileSync(noteOf(download.path), note);
    await downloadFile(download);
    expect(sha256(readFileSync(download.path))).toBe(sha256(BYTES));
  }
});

test('a hub that fails for a while is asked again, within bounds', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  let failures = 2;
  hub.behave = (_, res, asked) => {
    if (!isDownload(asked.path) || failures-- <= 0) return false;
    res.writeHead(503, { 'retry-after': '0' }).end();
    return true;
  };
  await downloadFile(plan(hub));
  failures = Infinity;
  const before = hub.asked.length;
  await expect(downloadFile(plan(hub))).rejects.toMatchObject({ code: 'upstream_error' });
  expect(hub.asked.length - before).toBe(MAX_VAIN_ATTEMPTS);
  let asked = 0;
  const failing = retrying(signal, async () => {
    asked += 1;
    throw asked === 1
      ? new TryAgainError(new HugindError('upstream_error', 'x'), 'Thu, 01 Jan 1970 00:00:00 GMT')
      : new Error('sure');
  });
  await expect(failing).rejects.toThrow('sure');
  expect(MAX_RETRY_PAUSE_MS).toBeLessThanOrEqual(30_000);
});

test('a server that falls silent is given up, and asked again', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  let silent = 1;
  hub.behave = (_, res, asked) => {
    if (!isDownload(asked.path) || silent-- <= 0) return false;
    res.writeHead(200, { etag: '"e"', 'content-length': BYTES.length }).write('x');
    return true;
  };
  // Short for the first alone: the second is answered whole, however late.
  await downloadFile(plan(hub, { silenceMs: 500 }));
  expect(hub.asked.filter(({ path }) => isDownload(path)).length).toBeGreaterThan(1);
  expect(HUB_SILENCE_MS).toBeGreaterThanOrEqual(10_000);
});

test('a size that nobody tells is taken as it comes, up to a cap', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  hub.behave = (_, res, asked) => {
    if (!isDownload(asked.path)) return false;
    res.writeHead(200, { 'transfer-encoding': 'chunked' }).write(BYTES.subarray(0, 1000));
    res.end(BYTES.subarray(1000));
    return true;
  };
  const download = plan(hub, { file: { name: 'a.gguf', size: undefined, sha256: undefined } });
  await downloadFile(download);
  expect(readFileSync(download.path).equals(BYTES)).toBe(true);
  expect(MAX_UNTOLD_BYTES).toBe(1024 ** 4);
});

test('a disk without room is told before a byte is fetched', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  const size = Number.MAX_SAFE_INTEGER - SPARE_DISK_BYTES;
  hub.behave = (_, res, asked) => {
    if (!isDownload(asked.path)) return false;
    res.writeHead(200, { etag: '"e"', 'content-length': size }).write('x');
    return true;
  };
  const download = plan(hub, { file: { name: 'a.gguf', size, sha256: undefined } });
  await expect(downloadFile(download)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('room'),
  });
  expect(existsSync(partOf(download.path))).toBe(false);
});

test('of two processes that fetch one file, the second is told that it is busy', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': BYTES });
  const download = plan(hub);
  await using held = await lockFile(partOf(download.path));
  await expect(downloadFile(download)).rejects.toMatchObject({ code: 'lock_timeout' });
  expect(held.closing).toBe(false);
  expect(DOWNLOAD_LOCK_MS).toBeLessThan(10_000);
});

test('redirects and listings have an end', async () => {
  await using hub = await FakeHub.start();
  const endpoint: Hub = { endpoint: hub.url, token: 'hf_x' };
  hub.behave = (_, res, { path }) => {
    res.writeHead(302, { location: `${path}x` }).end();
    return true;
  };
  const request = { url: `${hub.url}/`, token: undefined, origin: hub.url, signal };
  await expect(getFromHub(request)).rejects.toThrow(`more than ${MAX_HUB_REDIRECTS}`);
  expect(hub.asked).toHaveLength(MAX_HUB_REDIRECTS + 1);
  hub.behave = (_, res) => {
    res
      .writeHead(302, {
        location: `/${'x'.repeat(MAX_REDIRECT_CHARS - 4000)}`.padEnd(MAX_REDIRECT_CHARS + 1, 'y'),
      })
      .end();
    return true;
  };
  await expect(getFromHub(request)).rejects.toMatchObject({ code: 'upstream_error' });
  hub.behave = (_, res, { path }) => {
    res.writeHead(200, { link: `<${path}>; rel="next"` }).end('[]');
    return true;
  };
  hub.asked.length = 0;
  await expect(listHubFiles(endpoint, 'u/r', signal)).rejects.toThrow('pages');
  expect(hub.asked).toHaveLength(MAX_LISTING_PAGES);
  hub.behave = (_, res) => {
    res.writeHead(200).end(Buffer.alloc(MAX_LISTING_BYTES + 1, ' '));
    return true;
  };
  await expect(listHubFiles(endpoint, 'u/r', signal)).rejects.toThrow('larger');
});

test('a mirror that knows no trees is asked for the model', async () => {
  await using hub = await FakeHub.start();
  hub.behave = (_, res, { path }) => {
    if (path.includes('/tree/')) res.writeHead(404).end();
    else
      res.end(
        JSON.stringify({
          siblings: [{ rfilename: 'a.gguf', size: 3, lfs: { sha256: 'ab'.repeat(32), size: 3 } }],
        }),
      );
    return true;
  };
  const files = await listHubFiles({ endpoint: hub.url, token: undefined }, 'u/r', signal);
  expect(files.get('a.gguf')).toEqual({ name: 'a.gguf', size: 3, sha256: 'ab'.repeat(32) });
});

test('hosts of this machine and its network are known', () => {
  for (const host of [
    'localhost',
    '127.0.0.1',
    '10.1.2.3',
    '[::1]',
    '169.254.169.254',
    'printer',
    '[fd00::1]',
  ])
    expect(isPrivateHost(host), host).toBe(true);
  for (const host of ['huggingface.co', '8.8.8.8', 'cdn-lfs.huggingface.co', '[2606:4700::1]'])
    expect(isPrivateHost(host), host).toBe(false);
});
