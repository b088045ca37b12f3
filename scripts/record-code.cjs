// Loaded before a bundle: when the run is over, writes what V8 has compiled of it to the file named by the environment.
'use strict';

const { renameSync, writeFileSync } = require('node:fs');

const scripts = [];
let build = '';
globalThis[Symbol.for('hawser.compiled')] = (ofBuild, group, script) => {
  build = ofBuild;
  scripts[group] = script;
};

process.on('exit', () => {
  const file = process.env.HAWSER_CODE_CACHE;
  const blobs = [];
  let at = 0;
  const groups = Array.from(scripts, (script) => {
    if (script === undefined) return null;
    const blob = script.createCachedData();
    blobs.push(blob);
    at += blob.length;
    return [at - blob.length, at];
  });
  // Renamed into place: a bundle that starts meanwhile finds all of it or nothing.
  writeFileSync(`${file}.new`, Buffer.concat([Buffer.from(`${JSON.stringify({ build, groups })}\n`), ...blobs]));
  renameSync(`${file}.new`, file);
});
