// While there is no index that knows all entries: every list, search and reflection says that it may be short.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { serve } from "../../src/surfaces/http/serve.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore, readJson, runCli } from "./cli-run.js";

/** More than the newest, which answers are made of where the index cannot be used. */
const ENTRIES = 5_500;
const NOTE = "The index is being rebuilt; older entries may be missing.";
const store = join(folderOfFile(), "store");

beforeAll(async () => {
  const message = { kind: "message", session_id: "s", role: "user" } as const;
  await fillStore(
    store,
    Array.from({ length: ENTRIES }, (_, nth) => ({ ...message, content: nth === 0 ? "the oldest" : `entry ${nth}` })),
  );
});

/** A folder in place of the index cannot be opened or replaced, so answers stay partial until it is removed. */
function obstructIndex(): () => void {
  const remove = (): void => {
    for (const suffix of ["", "-wal", "-shm"])
      rmSync(join(store, `index.db${suffix}`), { recursive: true, force: true });
  };
  remove();
  mkdirSync(join(store, "index.db", "in the way"), { recursive: true });
  onTestFinished(remove);
  return remove;
}

test("over HTTP every such answer says so, as its schema declares, and no longer once the index is whole", async () => {
  const clear = obstructIndex();
  const recorder = await openRecorder({ data: store });
  const serving = await serve({ version: "1.2.3", port: 0, recorder });
  onTestFinished(() => serving.close());
  const get = async (path: string, accept = "application/json"): Promise<string> =>
    (await fetch(`${serving.address}${path}`, { headers: { accept } })).text();
  const document = JSON.parse(await get("/openapi.json"));
  const paths = {
    "/entries": "/entries",
    "/interactions": "/interactions",
    "/sessions": "/sessions",
    "/sessions/s/entries": "/sessions/{id}/entries",
    "/search?q=oldest&facets=1": "/search",
    "/reflection": "/reflection",
  };
  for (const [path, declared] of Object.entries(paths)) {
    expect(JSON.parse(await get(path)), path).toMatchObject({ partial: true });
    const { $ref } = document.paths[declared].get.responses[200].content["application/json"].schema;
    const schema = document.components.schemas[$ref.split("/").at(-1)];
    expect(schema.properties.partial, path).toMatchObject({ const: true });
    expect(schema.required, path).not.toContain("partial");
  }
  expect(JSON.parse(await get("/search?q=oldest")).results).toEqual([]);
  expect(await get("/reflection", "text/markdown")).toMatch(new RegExp(`\n\n${NOTE}$`));
  clear();
  for (const path of Object.keys(paths)) expect(JSON.parse(await get(path)), path).not.toHaveProperty("partial");
  expect(JSON.parse(await get("/search?q=oldest")).results).toHaveLength(1);
  expect(await get("/reflection", "text/markdown")).not.toContain(NOTE);
});

test("a command says so on standard error, and a document in a field", async () => {
  obstructIndex();
  for (const args of [["search", "entry"], ["list"], ["sessions"], ["stats"]]) {
    const { status, stdout, stderr } = await runCli(args, { data: store });
    expect({ status, said: stderr.split("\n")[0] }, args[0]).toEqual({ status: 0, said: NOTE });
    expect(stdout, args[0]).not.toContain(NOTE);
    expect(await readJson(args, { data: store }), args[0]).toMatchObject({ partial: true });
  }
  const reflected = await runCli(["reflect"], { data: store });
  expect(reflected).toMatchObject({ status: 0, stderr: "" });
  expect(reflected.stdout).toMatch(new RegExp(`\n\n${NOTE}\n$`));
  expect(await readJson(["reflect"], { data: store })).toMatchObject({ partial: true });
  const text = await runCli(["search", "oldest", "--text"], { data: store });
  expect(text.stdout).toBe(`Nothing recorded matches 'oldest'.\n(${NOTE})\n`);
});
