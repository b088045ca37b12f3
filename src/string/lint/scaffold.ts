// The first files of a new app or tool: small, complete, and without findings.

export type PackageKind = 'app' | 'tool';

export interface ScaffoldFile {
  /** From where it was asked for. */
  readonly path: string;
  readonly text: string;
}

/** It is a name of a topic, a folder and a file. */
export const MAX_PACKAGE_NAME_CHARS = 64;

export function isPackageName(name: string): boolean {
  return /^[A-Za-z0-9_-]+$/u.test(name) && name.length <= MAX_PACKAGE_NAME_CHARS;
}

/** An app is a folder, since it will have more than one file; a tool is one file. */
export function scaffoldOf(kind: PackageKind, name: string): readonly ScaffoldFile[] {
  return kind === 'tool'
    ? [{ path: `${name}.md`, text: tool(name) }]
    : [
        { path: `${name}/string.md`, text: app(name) },
        { path: `${name}/tips.md`, text: TIPS },
      ];
}

const app = (name: string): string => `---
title: ${titleOf(name)}
name: ${name}
type: app
version: 0.1.0
default: list
---

[!include:tips](tips.md)

# ${titleOf(name)}

Say here what the app is for: this text is what an agent sees when it opens it.

- \`/act.list\` shows the files beside this one, each with a shortcut
- \`/act.show @file-1\` shows one of them

\`\`\`act.list
CLI ls -1 | node -e 'const rows = require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean); console.log(JSON.stringify({ rows }))'
\`\`\`
\`\`\`act.list.response
Files:
for: name in Response.body.rows
{@file} = {name}
- {@file} {name}
end:
\`\`\`
\`\`\`act.show
CLI head -n {lines} -- {file}
  file: path (required) "a file, or @file-N"
  lines, -n: number (optional) "how many lines" = "20"
\`\`\`
`;

const TIPS = `<!-- #tips -->
Tip: \`/act --help\` lists what can be done here.
<!-- /tips -->
`;

const tool = (name: string): string => `---
title: ${titleOf(name)}
name: ${name}
type: tool
version: 0.1.0
default: run
---

# ${titleOf(name)}

Say here what the tool does. \`/tool:${name} some words\` runs it.

\`\`\`act.run
CLI printf '%s\\n' $ARGS
\`\`\`
`;

function titleOf(name: string): string {
  const words = name.replaceAll(/[-_]+/gu, ' ').trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
