// Settings that nobody should have written: one clear error each, and the store is as it was.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type CliResult, runCli } from "../e2e/cli-run.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";

export const settingsFaults: readonly Fault[] = [
  { name: "hostile settings", engines: both, weight: 3, run: hostileSettings },
];

const FILES: readonly string[] = [
  "",
  "{",
  "[]",
  "null",
  "\0\0\0",
  '{"data":["a"]}',
  '{"data":{"__proto__":1}}',
  '{"port":-1}',
  '{"port":"4747; rm"}',
  '{"port":1e99}',
  '{"host":"\\u0000"}',
  '{"redact":"everything"}',
  '{"retention":{"keep_at_least":"-1d"}}',
  '{"retention":{"rules":[{"older_than":"yesterday"}]}}',
  '{"retention":{"rules":{"length":1000000000}}}',
  '{"__proto__":{"data":"/nowhere"}}',
  `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
  `{"data":"${"x".repeat(200_000)}"}`,
  '{"tls_cert":"/dev/zero"}',
  '{"allow_host":[1,null,{}]}',
  '\ufeff{"data": 5,}',
];
const VARIABLES: readonly (readonly [string, string])[] = [
  ["HANSARD_PORT", "ninety"],
  ["HANSARD_PORT", "999999"],
  ["HANSARD_HOST", "not a host"],
  ["HANSARD_DATA", "postgres://"],
  ["HANSARD_DATA", "mysql://nobody@nowhere/x"],
  ["HANSARD_DATA", "https://127.0.0.1:1/"],
  ["HANSARD_KEY", "\u2028"],
  ["HANSARD_INDEX", "gopher://x"],
  ["HANSARD_TIMEZONE", "Mars/Olympus"],
  ["TZ", "Mars/Olympus"],
  ["NODE_OPTIONS", ""],
];
const COMMANDS: readonly (readonly string[])[] = [
  ["list"],
  ["stats"],
  ["doctor"],
  ["record", "--prompt", "p"],
  ["retention"],
];

async function hostileSettings(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const writer = fire.writer({ data, callers: 2 });
  await fire.progress(writer, fire.int(5, 30));
  for (let tries = fire.int(2, 3); tries > 0; tries -= 1) {
    const home = join(fire.folder, `home-${tries}`);
    mkdirSync(join(home, "hansard"), { recursive: true });
    if (fire.chance(0.7)) writeFileSync(join(home, "hansard", "config.json"), fire.pick(FILES));
    const [name, value] = fire.pick(VARIABLES);
    const env: NodeJS.ProcessEnv = {
      XDG_CONFIG_HOME: home,
      HOME: home,
      ...(fire.chance(0.5) ? { [name]: value } : {}),
    };
    const args = [
      ...fire.pick(COMMANDS),
      ...(fire.chance(0.5) && env.HANSARD_DATA === undefined ? ["--data", data] : []),
    ];
    expectClear(args, await runCli(args, { env, asProgram: true }));
  }
  await fire.progress(writer, 5);
  await writer.kill();
}

/** It did it, or said what is wrong in a few lines; a stack would be an error of ours. */
function expectClear(args: readonly string[], { status, stderr }: CliResult): void {
  expect([0, 1, 2], `${args.join(" ")}: ${stderr}`).toContain(status);
  expect(stderr).not.toMatch(/^\s+at .*\.js:\d+/m);
  if (status !== 0) expect(stderr.split("\n").length).toBeLessThan(12);
}
