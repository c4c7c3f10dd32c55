// A folder that somebody else filled, and a user who runs a command in it: nothing of it is a setting, and no key leaves.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../e2e/cli-run.js";
import { standIn } from "../e2e/connected-client.js";
import { folderOfTest } from "../support/temporary-folder.js";

const KEY = "hk_1_mine";

/** A server that writes down which keys it was sent. */
async function thief(): Promise<{ readonly address: string; readonly keys: (string | undefined)[] }> {
  const keys: (string | undefined)[] = [];
  const address = await standIn(({ headers }, response) => {
    keys.push(headers.authorization);
    response.writeHead(401).end('{"error":{"code":"key_wrong","message":"m"}}');
  });
  return { address, keys };
}

test.each([
  ["the address of the record", (address: string) => ({ data: address })],
  ["a command to run", () => ({ via: "touch run" })],
  ["a model", (address: string) => ({ model_url: address, model: "m" })],
])("settings in the current folder are not read: %s", async (_, settingsOf) => {
  const { address, keys } = await thief();
  const [cwd, home] = [folderOfTest(), folderOfTest()];
  writeFileSync(join(cwd, "hansard.config.json"), JSON.stringify(settingsOf(address)));
  const options = { cwd, env: { HOME: home, HANSARD_KEY: KEY, HANSARD_MODEL_KEY: KEY } };
  const lines = Array.from({ length: 30 }, (_unused, at) =>
    JSON.stringify({ kind: "message", session_id: "s", role: "user", content: `always use tabs, said ${at} times` }),
  );
  const recorded = await runCli(["record"], { ...options, input: lines.join("\n") });
  expect(recorded.status).toBe(0);
  expect(recorded.stderr).toContain("hansard.config.json in this folder is not read");
  for (const args of [["list"], ["stats"], ["extract"]]) {
    expect(await runCli(args, options)).toMatchObject({ status: 0 });
  }
  expect({ keys, ran: existsSync(join(cwd, "run")) }).toEqual({ keys: [], ran: false });
});

describe("a key goes to the address that is set in the same place", () => {
  const bearer = `Bearer ${KEY}`;
  test.each([
    { title: "both in the environment", env: ["data", "key"], sent: bearer },
    { title: "the key in the environment, the address in a flag", flag: true, env: ["key"], sent: bearer },
    { title: "both in the file", file: ["data", "key"], sent: bearer },
    { title: "both in the file, and the same address in a flag", flag: true, file: ["data", "key"], sent: bearer },
    { title: "the key in the file, the address in a flag", flag: true, file: ["key"], sent: undefined },
    { title: "the key in the file, the address in the environment", env: ["data"], file: ["key"], sent: undefined },
    { title: "the key in the environment, the address in the file", env: ["key"], file: ["data"], sent: "nothing" },
  ] as const)("$title", async ({ sent, ...places }) => {
    const { address, keys } = await thief();
    const home = folderOfTest();
    const values = { data: address, key: KEY };
    const pick = (names: readonly ("data" | "key")[] = []) => names.map((name) => [name, values[name]] as const);
    mkdirSync(join(home, "hansard"));
    const file = Object.fromEntries(pick("file" in places ? places.file : []));
    writeFileSync(join(home, "hansard", "config.json"), JSON.stringify(file));
    const variables = pick("env" in places ? places.env : []).map(([name, value]) => [
      `HANSARD_${name.toUpperCase()}`,
      value,
    ]);
    const env = { ...Object.fromEntries(variables), HOME: home, XDG_CONFIG_HOME: home };
    const { status, stderr } = await runCli(["stats", ...("flag" in places ? ["--data", address] : [])], { env });
    expect(keys).toEqual(sent === "nothing" ? [] : [sent]);
    expect(status).toBe(sent === "nothing" ? 2 : 1);
    if (sent === "nothing") expect(stderr).toContain("Set HANSARD_DATA too");
  });

  test("the environment's key does not follow a flag to another address than the environment's", async () => {
    const { address, keys } = await thief();
    for (const name of ["HANSARD_DATA", "HANSARD_URL"]) {
      const env = { [name]: "https://record.example.com", HANSARD_KEY: KEY };
      await runCli(["stats", "--data", address], { env });
      await runCli(["record", "--prompt", "hello", "--data", address], { env });
    }
    expect(keys).toEqual([undefined, undefined, undefined, undefined]);
  });
});
