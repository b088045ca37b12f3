// What a launcher is asked, and what it says.

/**
 * The descriptor of the launcher's end of the link.
 *
 * A launcher forks once, so that it is nobody's child, says `R 0 pid`, and then takes requests from there: a length (32 bits,
 * little endian) and as many bytes, fields between zero bytes:
 *
 * - `S id cwd stdin stdout stderr unlink mark argc argv … env …`: start a program in a session of its own;
 * - `M id name …`: make pipes with these names.
 *
 * It says, each time by a letter and two numbers of 32 bits:
 *
 * - `S id pid`: the program runs;
 * - `E id status`: it has ended; the status is that of wait(2);
 * - `M id 0`: the pipes are there;
 * - `F id errno`: it could not be done, and nothing is left of it.
 *
 * The names in `unlink`, one a line, are removed right before a start: while they are there nothing has been started.
 * Outputs are opened without waiting, so a host that has died meanwhile is noticed: nobody reads there. When the link ends, so
 * does the launcher.
 */
export const LINK_FD = 3;
