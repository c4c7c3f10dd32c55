#!/usr/bin/env node
// The command `hansard`. Only the version is answered here, before anything else is loaded: scripts ask for it often.
import { readVersion } from "./version.js";

const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${readVersion()}\n`);
} else {
  const { run } = await import("./program.js");
  const status = await run(args);
  // A failure to write the output has set one already.
  process.exitCode ??= status;
}
