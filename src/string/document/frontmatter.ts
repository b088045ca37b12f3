// What a document says about itself, between two lines of `---` at its beginning.

import { parseYaml, type YamlMap, type YamlValue } from './yaml-subset.js';

/** A document that says more about itself than this is not read for it. */
export const MAX_FRONTMATTER_CHARS = 64 * 1024;

/** A variable that a document needs. */
export interface RequiredVariable {
  readonly name: string;
  readonly description?: string;
  readonly default?: string;
}

export interface Frontmatter {
  readonly title: string | null;
  readonly name?: string;
  readonly namespace?: string;
  readonly version?: string;
  /** `app`, `tool`, or whatever is written there. */
  readonly type?: string;
  /** The action that is run when the document is opened. */
  readonly default?: string;
  /** Of `requires:`. */
  readonly requires: readonly string[];
  /** Of `env:`. */
  readonly env: readonly RequiredVariable[];
  /** All keys, also those that nobody knows. */
  readonly values: YamlMap;
}

export const NO_FRONTMATTER: Frontmatter = { title: null, requires: [], env: [], values: {} };

/** `text` is what stands between the two lines; line 1 of the problems is its first. */
export function parseFrontmatter(text: string): {
  readonly frontmatter: Frontmatter;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
} {
  if (text.length > MAX_FRONTMATTER_CHARS)
    return {
      frontmatter: NO_FRONTMATTER,
      problems: [
        { line: 1, message: `frontmatter of more than ${MAX_FRONTMATTER_CHARS} characters is ignored` },
      ],
    };
  const { value, problems } = parseYaml(text);
  const known = (key: string): Record<string, string> => {
    const found = textOf(value[key]);
    return found === undefined || found === '' ? {} : { [key]: found };
  };
  return {
    frontmatter: {
      title: known('title')['title'] ?? null,
      ...known('name'),
      ...known('namespace'),
      ...known('version'),
      ...(textOf(value['type']) === undefined && value['category'] !== undefined
        ? { type: textOf(value['category']) ?? '' }
        : known('type')),
      ...known('default'),
      requires: namesOf(value['requires']),
      env: variablesOf(value['env']),
      values: value,
    },
    problems: problems.map(({ line, message }) => ({ line, message: `frontmatter: ${message}` })),
  };
}

function textOf(value: YamlValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function namesOf(value: YamlValue | undefined): string[] {
  const list = Array.isArray(value) ? (value as readonly YamlValue[]) : [value ?? null];
  return list.flatMap((each) => {
    const name = textOf(each)?.replace(/^\$/u, '');
    return name === undefined || name === '' ? [] : name.split(/[\s,]+/u);
  });
}

/** `NAME`, `NAME: "what it is"` with a `default` beside it, or `{name, description, default}`. */
function variablesOf(value: YamlValue | undefined): RequiredVariable[] {
  if (!Array.isArray(value)) return isMap(value) ? variablesOfMap(value) : [];
  return (value as readonly YamlValue[]).flatMap((each) => {
    if (!isMap(each)) return namesOf(each).map((name) => ({ name }));
    const name = textOf(each['name']);
    if (name === undefined) return variablesOfMap(each);
    return [describe(name, each['description'], each['default'])];
  });
}

function variablesOfMap(map: YamlMap): RequiredVariable[] {
  return Object.entries(map)
    .filter(([name]) => name !== 'default')
    .map(([name, description]) => describe(name, description, map['default']));
}

function describe(
  name: string,
  description: YamlValue | undefined,
  preset: YamlValue | undefined,
): RequiredVariable {
  const [told, given] = [textOf(description), textOf(preset)];
  return {
    name: name.replace(/^\$/u, ''),
    ...(told !== undefined && { description: told }),
    ...(given !== undefined && { default: given }),
  };
}

function isMap(value: YamlValue | undefined): value is YamlMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
