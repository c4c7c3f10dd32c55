// Root may write everything, so that tests which run as root meet what may not be written without that privilege. It stays
// the owner of its files: a clone that nobody else can reach serves as well as any other.

/** The command as a user who may only do what the modes of files allow. */
export function withoutPrivilege(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command;
  const without = "-dac_override,-dac_read_search";
  return ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, ...command];
}
