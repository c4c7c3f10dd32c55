// The image is built from the clone; there is no Docker to build it with where tests run. So the files that it would hold are
// copied, and the program is started from them, as a user who may write nothing there.
import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand } from "../../scripts/run-command.mjs";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { withoutPrivilege } from "../support/without-privilege.js";

const read = (file: string): string => readFileSync(join(repositoryRoot, file), "utf8");
const dockerfile = read("Dockerfile");
const image = folderOfFile();

beforeAll(() => {
  for (const [, files = "", to = ""] of dockerfile.matchAll(/^COPY --from=build (.+) (\S+)$/gm)) {
    for (const file of files.split(" ")) {
      const from = file.replace("/hansard/", "");
      cpSync(join(repositoryRoot, from), join(image, to.endsWith("/") ? join(to, from) : to), { recursive: true });
    }
  }
  expect(dockerfile).toContain("rm dist/bundle/*.map");
  const bundle = join(image, "dist", "bundle");
  for (const name of readdirSync(bundle)) if (name.endsWith(".map")) rmSync(join(bundle, name));
  for (const name of ["", ...readdirSync(image, { recursive: true, encoding: "utf8" })])
    chmodSync(join(image, name), 0o555);
});

test("the image holds what the package ships, except types", () => {
  const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
  const shipped = files.filter((file) => !file.startsWith("!") && !/\.md$|types$/.test(file));
  const copied = [...dockerfile.matchAll(/(?<=\/hansard\/)dist\/\S+(?= \.)/g)].map(([path]) => path);
  expect(copied.sort()).toEqual([...shipped].sort());
  expect(existsSync(join(image, "node_modules"))).toBe(false);
});

const main = join(image, /ln -s \/hansard\/(\S+) \/usr\/local\/bin\/hansard/.exec(dockerfile)?.[1] ?? "");

/** The command of the image, with what its environment says. */
async function container(): Promise<{ command: readonly [string, ...string[]]; env: NodeJS.ProcessEnv }> {
  const settings = join(folderOfTest(), "settings");
  mkdirSync(settings);
  const { PATH } = process.env;
  const env = { PATH, HOME: "/nonexistent", XDG_CONFIG_HOME: settings, HANSARD_DATA: await databaseOfTest() };
  return { command: withoutPrivilege([process.execPath, main]), env };
}

test("it serves the page from these files alone, refuses callers without a key, and is healthy", async () => {
  const { command, env } = await container();
  const [program, ...args] = command;
  const create = ["keys", "create", "--scope", "admin", "--name", "anna", "--json"];
  const created = await runCommand(program, [...args, ...create], { cwd: image, env });
  expect(created, created.stderr).toMatchObject({ status: 0 });
  const { key } = JSON.parse(created.stdout) as { readonly key: string };

  const given = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]") as readonly string[];
  const server = spawn(program, [...args, ...given, "--port", "0"], { cwd: image, env });
  onTestFinished(() => void server.kill("SIGKILL"));
  const { address } = JSON.parse(await listening(server.stderr)) as { readonly address: string };
  const { port } = new URL(address);
  const here = `http://127.0.0.1:${port}`;
  expect(await (await fetch(`${here}/ui/`)).text()).toContain("<script");
  expect((await fetch(`${here}/entries`)).status).toBe(401);
  expect((await fetch(`${here}/entries`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);

  const check = JSON.parse(/HEALTHCHECK [^[]+(\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]") as readonly string[];
  expect(check[0]).toBe("node");
  const asked = (at: string) => runCommand(process.execPath, check.slice(1), { env: { HANSARD_PORT: at } });
  expect(await asked(port)).toMatchObject({ status: 0 });
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
  expect(await asked(port)).toMatchObject({ status: 1 });
});

async function listening(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) if (line.includes('"listening"')) return line;
  throw new Error("The server ended before it listened.");
}

test("what a model is asked when it proposes memories is in the image too", async () => {
  const { command, env } = await container();
  const [program, ...args] = command;
  const said = { kind: "message", role: "user", session_id: "s1", created_at: "2026-01-01T00:00:00Z" };
  const entries = join(folderOfTest(), "entries.ndjson");
  const lines = Array.from({ length: 24 }, (_, nth) =>
    JSON.stringify({ ...said, content: `The door of archive ${nth} is painted green` }),
  );
  writeFileSync(entries, lines.join("\n"));
  const recorded = await runCommand("/bin/sh", ["-c", `"$0" "$@" record - < '${entries}'`, program, ...args], {
    cwd: image,
    env,
  });
  expect(recorded, recorded.stderr).toMatchObject({ status: 0 });
  const asked = join(folderOfTest(), "asked");
  const via = `cat > '${asked}'; echo '{"memories": []}'`;
  const extracted = await runCommand(program, [...args, "extract", "--yes", "--via", via], { cwd: image, env });
  expect(extracted, extracted.stderr).toMatchObject({ status: 0 });
  const [first = ""] = read("docs/EXTRACTION_PROMPT.md").split("\n");
  expect(first).not.toBe("");
  expect(readFileSync(asked, "utf8")).toContain(JSON.stringify(first).slice(1, -1));
});

test("the build is given what it needs", () => {
  const ignored = read(".dockerignore").split("\n");
  for (const file of ["client", "docs", "package-lock.json", "scripts", "src", "test", "ui"]) {
    expect(ignored).not.toContain(file);
  }
  for (const [, script = ""] of dockerfile.matchAll(/^RUN node (\S+)/gm)) {
    expect(existsSync(join(repositoryRoot, script)), script).toBe(true);
  }
});

test("the compose file builds it, and nothing of it has to be published", () => {
  expect(read("compose.yaml")).toMatch(/^ {2}hansard:\n {4}build: \.$/m);
  expect(read("compose.yaml")).not.toContain("npx");
});
