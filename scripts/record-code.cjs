// Loaded before a bundle: when the run is over, writes what V8 has compiled of it to the file named by the environment.
'use strict';

const fs = require('node:fs');

/** The group that every start compiles. */
const START = 0;
const STDOUT = 1;
/** Where the table of contents ends, as the bundle expects it. */
const HEADER_BYTES = 4096;

const scripts = [];
let build = '';
let startCode;
globalThis[Symbol.for('hawser.compiled')] = (ofBuild, group, script) => {
  build = ofBuild;
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
    const blob = (group === START ? startCode : undefined) ?? script.createCachedData();
    blobs.push(blob);
    at += blob.length;
    return [at - blob.length, at];
  });
  // Renamed into place: a bundle that starts meanwhile finds all of it or nothing.
  const head = Buffer.alloc(HEADER_BYTES);
  head.write(`${JSON.stringify({ build, groups })}\n`);
  fs.writeFileSync(`${file}.new`, Buffer.concat([head, ...blobs]));
  fs.renameSync(`${file}.new`, file);
});
