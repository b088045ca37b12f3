// The add-on inside an executable that is copied alone. Empty here: scripts/embed-addons.ts fills it in for such a bundle.

/** A module that holds an add-on as text: gzipped, then in base64. */
export type PackedAddon = () => Promise<{ readonly packed: string }>;

/** By platform and processor, as in `linux-x64`. */
export const EMBEDDED_ADDONS: Readonly<Record<string, PackedAddon>> = {};
