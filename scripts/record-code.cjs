// Loaded before a bundle: when the run is over, writes what V8 has compiled of it to the file named by the environment.
'use strict';

const { renameSync, writeFileSync } = require('node:fs');

const scripts = new Map();
let build = '';
globalThis[Symbol.for('hawser.compiled')] = (ofBuild, name, script) => {
  build = ofBuild;
  scripts.set(name, script);
};

process.on('exit', () => {
  const file = process.env.HAWSER_CODE_CACHE;
  const blobs = [];
  const parts = [];
  let at = 0;
  for (const [name, script] of scripts) {
    const blob = script.createCachedData();
    blobs.push(blob);
    parts.push([name, at, at + blob.length]);
    at += blob.length;
  }
  // Renamed into place: a bundle that starts meanwhile finds all of it or nothing.
  writeFileSync(`${file}.new`, Buffer.concat([Buffer.from(`${JSON.stringify({ build, parts })}\n`), ...blobs]));
  renameSync(`${file}.new`, file);
});
