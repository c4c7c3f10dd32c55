// The version, read from the package's own description so that it is stated once.
import { readFileSync } from "node:fs";

export function readVersion(): string {
  // dist/src/cli lies three folders below package.json, in a clone as in an installed package.
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}
