// The version, read from the package's own description so that it is stated once.
import { readFileSync } from "node:fs";
import { packageFile } from "../../model/files.js";

export function readVersion(): string {
  const text = readFileSync(packageFile("package.json"), "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}
