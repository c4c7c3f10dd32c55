// Root may write everything, so tests run as root drop that privilege where something must not be writable. The process stays
// the owner of its files: a clone that no other user can read works too.

/** The command as a user who may only do what the modes of files allow. */
export function withoutPrivilege(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command;
  const without = "-dac_override,-dac_read_search";
  return ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, ...command];
}
