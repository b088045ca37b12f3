import { describe, expect, test } from 'vitest';
import { MAX_ROUNDS, parseOptions, peersFor } from '../../../bench/options.js';

const KNOWN = ['rexd', 'splitter'];
const parse = (...argv: string[]) => parseOptions(argv, KNOWN);

describe('parseOptions', () => {
  test('nothing given means all suites, full rounds, results stored, misses fail', () => {
    const options = parse();
    expect(options).toMatchObject({
      suites: [],
      peers: [],
      json: false,
      failOnMiss: true,
      store: true,
      large: false,
      only: '',
      show: 'results',
    });
    expect(options.plan.rounds).toBeGreaterThan(5);
  });

  test('suites are named once each, in any order with options', () => {
    expect(parse('rexd', '--json', 'splitter', 'rexd').suites).toEqual(['rexd', 'splitter']);
  });

  test('an unknown suite is refused with the names of those there are', () => {
    expect(() => parse('rex')).toThrow(/no suite is called rex; there are: rexd, splitter/);
  });

  test('a peer is a name and a command cut into words', () => {
    expect(parse('--peer', `go=/opt/rexd --stdio --name "a b"`, '--peer', 'x=y=z').peers).toEqual([
      { name: 'go', argv: ['/opt/rexd', '--stdio', '--name', 'a b'] },
      { name: 'x', argv: ['y=z'] },
    ]);
  });

  test.each(['rexd --stdio', '=rexd', 'go=', 'a b=c'])('a peer written %j is refused', (text) => {
    expect(() => parse('--peer', text)).toThrow('--peer takes name="command"');
  });

  test('a peer whose command has an open quote, or whose name is taken, is refused', () => {
    expect(() => parse('--peer', `go='x`)).toThrow('--peer go: open quote');
    expect(() => parse('--peer', 'go=x', '--peer', 'go=y')).toThrow('two peers are called go');
  });

  test('rounds can be chosen, within bounds', () => {
    expect(parse('--rounds', '7').plan.rounds).toBe(7);
    expect(parse('--quick', '--rounds', String(MAX_ROUNDS)).plan.rounds).toBe(MAX_ROUNDS);
    for (const bad of ['0', '-1', '1.5', 'many', '', String(MAX_ROUNDS + 1)]) {
      expect(() => parse(`--rounds=${bad}`)).toThrow('--rounds takes');
    }
  });

  test('a quick run is shorter and replaces no stored result', () => {
    const quick = parse('--quick');
    expect(quick.store).toBe(false);
    expect(quick.plan.rounds * quick.plan.sampleMs).toBeLessThan(1000);
  });

  test('help, list, json and no-fail', () => {
    expect(parse('--help').show).toBe('help');
    expect(parse('-h').show).toBe('help');
    expect(parse('--list').show).toBe('list');
    expect(parse('--json', '--no-fail')).toMatchObject({ json: true, failOnMiss: false });
  });

  test('an unknown option is refused', () => {
    expect(() => parse('--fast')).toThrow('--fast');
  });
});

describe('peersFor', () => {
  const peers = [{ name: 'p', argv: ['p'] }];

  test('a peer joins the suites that were named, if they take peers at all', () => {
    expect(peersFor({ name: 'jsonrpc', peerSpeaks: 'echo' }, { suites: ['jsonrpc'], peers })).toEqual(peers);
    expect(peersFor({ name: 'splitter' }, { suites: ['splitter'], peers })).toEqual([]);
  });

  test('in a run of everything a peer is taken to be a rexd', () => {
    expect(peersFor({ name: 'rexd', peerSpeaks: 'rexd' }, { suites: [], peers })).toEqual(peers);
    expect(peersFor({ name: 'jsonrpc', peerSpeaks: 'echo' }, { suites: [], peers })).toEqual([]);
  });
});
