// What a command can do, as far as its words tell.

/** From harmless to grave. A command is of the gravest class that can be seen in it. */
export const COMMAND_CLASSES = ['read-only', 'write', 'shell', 'privileged'] as const;
export type CommandClass = (typeof COMMAND_CLASSES)[number];
