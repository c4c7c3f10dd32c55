// What the help of a command says about `--kind`, from the table of kinds: a kind that is added there is in it at once.

export function kindHelp(kinds: readonly string[]): string {
  return `only this kind: ${kinds.join(", ")}`;
}
