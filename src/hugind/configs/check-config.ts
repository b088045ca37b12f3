// Whether a text is a config: everything that is wrong with it, by line or by key, and what it comes to if nothing is.

import * as z from 'zod/mini';
import { nearest } from '../../base/nearest.js';
import { describeIssues } from '../../base/schema-issues.js';
import { parseYaml } from './read-yaml.js';
import { configSchema, type HugindConfig, KNOWN_KEYS } from './schema.js';

/** Findings that are told of one file; who mends these sees the next. */
export const MAX_CONFIG_FINDINGS = 20;

export interface Finding {
  /** `server.port`; absent when it is the text that is wrong. */
  readonly path?: string;
  readonly message: string;
}

export type CheckedConfig =
  | { readonly valid: true; readonly config: HugindConfig; readonly warnings: readonly Required<Finding>[] }
  | { readonly valid: false; readonly errors: readonly Finding[] };

export async function checkConfig(text: string): Promise<CheckedConfig> {
  const document = await parseYaml(text);
  if (document.errors.length > 0)
    return {
      valid: false,
      errors: document.errors
        .slice(0, MAX_CONFIG_FINDINGS)
        .map(({ message }) => ({ message: firstLine(message) })),
    };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    return {
      valid: false,
      errors: [{ message: 'it repeats itself by aliases more often than is sensible' }],
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      valid: false,
      errors: [{ message: 'a config is a list of sections, such as "server:" and "model:"' }],
    };
  const checked = z.safeParse(configSchema, value);
  if (!checked.success)
    return {
      valid: false,
      errors: describeIssues(checked.error.issues, value).map(({ path, message }) => ({ path, message })),
    };
  const { model, backend } = checked.data;
  if ((model?.path ?? undefined) === undefined && (backend?.command ?? undefined) === undefined)
    return {
      valid: false,
      errors: [{ path: 'model.path', message: 'is required: the model file to serve' }],
    };
  return { valid: true, config: checked.data, warnings: unknownKeys(value as Record<string, unknown>) };
}

function unknownKeys(value: Readonly<Record<string, unknown>>): Required<Finding>[] {
  const sections: [string, unknown][] = [['', value], ...Object.entries(value)];
  return sections
    .flatMap(([section, members]) => {
      const known = Object.hasOwn(KNOWN_KEYS, section) ? KNOWN_KEYS[section] : undefined;
      if (known === undefined || typeof members !== 'object' || members === null) return [];
      return Object.keys(members)
        .filter((key) => !known.includes(key))
        .map((key) => {
          const close = nearest(key, known);
          return {
            path: `${section === '' ? '' : `${section}.`}${key.slice(0, 64)}`,
            message: `unknown key, it has no effect${close === undefined ? '' : `; did you mean "${close}"?`}`,
          };
        });
    })
    .slice(0, MAX_CONFIG_FINDINGS);
}

/** The parser draws the line beneath. */
function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/:$/, '') ?? message;
}
