// Loaded before a bundle: when the run is over, writes what V8 has compiled of it to the file named by the environment.
'use strict';

const fs = require('node:fs');

/** The group that every start compiles. */
const START = 0;
const STDOUT = 1;
/** Where the table of contents ends, as the bundle expects it. */
const HEADER_BYTES = 4096;

const scripts = [];
let made = '';
let sum;
let startCode;
globalThis[Symbol.for('hawser.compiled')] = (ofBundle, itsSum, group, script) => {
  made = ofBundle;
  sum = itsSum;
  scripts[group] = script;
};

// Of the start, what it takes to the first answer and no more: every function that is remembered takes time to recall.
const { writeSync } = fs;
fs.writeSync = (fd, ...rest) => {
  if (fd === STDOUT) startCode ??= scripts[START]?.createCachedData();
  return writeSync(fd, ...rest);
};

process.on('exit', () => {
  const file = process.env.HAWSER_CODE_CACHE;
  const blobs = [];
  let at = HEADER_BYTES;
  const groups = Array.from(scripts, (script, group) => {
    if (script === undefined) return null;
    // A copy of its own: what is summed up begins where its memory begins.
    const blob = Buffer.from(new Uint8Array((group === START ? startCode : undefined) ?? script.createCachedData()).buffer);
    blobs.push(blob);
    at += blob.length;
    return [at - blob.length, at, sum(blob)];
  });
  // Renamed into place: a bundle that starts meanwhile finds all of it or nothing.
  const head = Buffer.alloc(HEADER_BYTES);
  head.write(`${JSON.stringify({ made, groups })}\n`);
  fs.writeFileSync(`${file}.new`, Buffer.concat([head, ...blobs]));
  fs.renameSync(`${file}.new`, file);
});
