// What searches are compared with has to be there: a command that is not found would be the fastest of all.
import { spawnSync } from "node:child_process";

export function requireRipgrep(): void {
  if (spawnSync("rg", ["--version"]).status === 0) return;
  throw new Error("This benchmark compares with ripgrep: install it, so that `rg` is found.");
}
