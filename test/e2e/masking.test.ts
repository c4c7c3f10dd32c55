// Masking on every surface: secrets are hidden where entries are listed, and kept in the record itself.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder, type RecorderOptions } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

/** Put together here, so no scanner of repositories takes this file for a leak. */
const TOKEN = `ghp_${"aB3cD4eF5gH6".repeat(3)}`;
const OWN = "Projekt Morgenstern";
/** Far enough from what is searched for that the end of a snippet falls into the token. */
const PADDING = "word ".repeat(20);
const session_id = "s";

const entries: readonly EntryInput[] = [
  { kind: "interaction", id: "i", session_id, prompt: `needle ${TOKEN}`, response: TOKEN, extra: { [TOKEN]: [TOKEN] } },
  { kind: "message", session_id, role: "user", content: `needle ${PADDING}about ${TOKEN} and ${OWN}` },
  { kind: "message", session_id, role: "assistant", content: [{ type: "text", text: TOKEN }], confidence: 0.1 },
  { kind: "tool_call", session_id, tool: "curl", args: { h: { a: TOKEN } }, result: `needle ${OWN}`, is_error: true },
  { kind: "error", session_id, error: `needle https://user:${TOKEN}@host failed` },
  { kind: "decision", session_id, decision: "rotate", rationale: `because of ${TOKEN}`, project: TOKEN },
  { kind: "session_info", session_id, title: `on ${OWN}`, metadata: { key: TOKEN, agent: { name: TOKEN } } },
];

/** Known only by the name that it stands under. */
const NAMED = "tr0ub4dor";

const holdsSecret = (text: string): boolean => text.includes(TOKEN.slice(4, 14)) || text.includes(OWN.slice(-8));

async function recorderOf(options: Partial<RecorderOptions>): Promise<Recorder> {
  const recorder = await openRecorder({ data: folderOfTest(), mask: [OWN], ...options });
  onTestFinished(() => recorder.close());
  return recorder;
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

describe.each(["memory:", "a folder"])("the library on %s", (where) => {
  const open = async (options: Partial<RecorderOptions> = {}): Promise<Recorder> => {
    const recorder = await recorderOf({ ...(where === "memory:" ? { data: where } : {}), ...options });
    await recorder.append(entries);
    return recorder;
  };

  test("masks recalled memories, within the budget, since a model gets them", async () => {
    const recorder = await open();
    const { id } = await recorder.memories.add({ content: `The token of ${OWN} is ${TOKEN}`, project: "p" });
    const recalled = await recorder.memories.recall({ project: "p" });
    expect(recalled.memories_used).toEqual([id]);
    expect(holdsSecret(JSON.stringify(recalled))).toBe(false);
    const { tokens } = recalled.context_pack;
    for (const [budget_tokens, fits] of [
      [tokens, [id]],
      [tokens - 1, []],
    ] as const) {
      const { memories_used } = await recorder.memories.recall({ project: "p", budget_tokens });
      expect(memories_used).toEqual(fits);
    }
    expect((await recorder.memories.get(id))?.content).toContain(TOKEN);
  });

  test("masks lists, timelines, summaries, search, reflection, tail, Markdown, ATIF and counts", async () => {
    const recorder = await open();
    const tail = recorder.tail({ after: 0 });
    const followed = [];
    for (let count = 0; count < entries.length; count += 1) followed.push((await tail.next()).value);
    const shown = {
      interactions: await recorder.listInteractions(),
      entries: await recorder.listEntries(),
      timeline: await recorder.session(session_id).entries(),
      summary: await recorder.session(session_id).summary(),
      sessions: await recorder.listSessions(),
      search: await recorder.search("needle", { facets: true }),
      text: await recorder.sessionHistory({ query: "needle" }),
      reflection: await recorder.reflect(),
      markdown: await textOf(recorder.exportEntries({ format: "markdown" })),
      atif: await textOf(recorder.exportEntries({ format: "atif", session_id })),
      masked: await textOf(recorder.exportEntries({ masked: true })),
      counts: await recorder.count(),
      followed,
    };
    for (const [name, value] of Object.entries(shown)) {
      expect({ name, leaks: holdsSecret(JSON.stringify(value)) }).toEqual({ name, leaks: false });
    }
    for (const name of ["entries", "search", "text", "reflection", "markdown", "masked", "followed"] as const) {
      expect(JSON.stringify(shown[name])).toContain("[masked:");
    }
  });

  test("a secret identified only by its name is masked in lists and search results", async () => {
    const recorder = await recorderOf(where === "memory:" ? { data: where } : {});
    const env = [{ name: "DB_PASSWORD", value: `${NAMED}3` }];
    const args = { password: `${NAMED}1`, argv: ["run", "--passwd", `${NAMED}2`], env, Cookie: `sid=${NAMED}4aB5cD` };
    await recorder.append([{ kind: "tool_call", tool: "login", args }]);
    const shown = [await recorder.listEntries(), await recorder.search("login"), await recorder.reflect()];
    for (const answer of shown) expect(JSON.stringify(answer)).not.toContain(NAMED);
    for (const number of [1, 2, 3, 4]) {
      const [hit] = (await recorder.search(`${NAMED}${number}`)).results;
      expect(hit?.snippet).toMatch(/^(?:sid=)?\[masked:\w+\]$/);
      expect(hit?.matches.map(([from, to]) => hit.snippet.slice(from, to))).toEqual([hit?.snippet.replace("sid=", "")]);
    }
    const { findings } = await recorder.scrub();
    expect(findings).toMatchObject([{ secrets: ["assigned_secret", "cookie"] }]);
  });

  test("a token cut by the end of a snippet is masked, and matches still point at the search terms", async () => {
    const recorder = await open();
    const { results } = await recorder.search("needle");
    for (const { snippet, matches } of results) {
      expect(holdsSecret(snippet)).toBe(false);
      expect(matches.map(([from, to]) => snippet.slice(from, to))).toEqual(["needle"]);
    }
    const [found] = (await recorder.search(TOKEN.slice(10, 20))).results;
    expect(found?.matches.map(([from, to]) => found.snippet.slice(from, to))).toContain("[masked:github_token]");
  });

  test("gives the record itself as it was recorded: one entry, history, NDJSON", async () => {
    const recorder = await open();
    expect(await recorder.getEntry("i")).toMatchObject({ response: TOKEN, extra: { [TOKEN]: [TOKEN] } });
    expect(JSON.stringify(await recorder.session(session_id).history())).toContain(TOKEN);
    for (const format of ["openai", "anthropic"] as const) {
      const masked = JSON.stringify(await recorder.session(session_id).history({ format, masked: true }));
      expect(masked).toContain("[masked:");
      expect(masked).not.toContain(TOKEN);
    }
    expect(await textOf(recorder.exportEntries())).toContain(TOKEN);
    expect(await textOf(recorder.exportEntries({ format: "nanobot", session_id }))).toContain(OWN);
  });
});

describe("redact: capture", () => {
  test("no file of the store contains the secret, and the log verifies", async () => {
    const data = folderOfTest();
    const recorder = await recorderOf({ data, redact: "capture" });
    await recorder.append(entries);
    expect(await recorder.getEntry("i")).toMatchObject({ prompt: "needle [masked:github_token]" });
    await recorder.listEntries();
    expect(await recorder.verify()).toMatchObject({ ok: true, entries: entries.length });
    await recorder.close();
    for (const name of readdirSync(data)) expect(holdsSecret(readFileSync(join(data, name), "latin1"))).toBe(false);
  });

  test("the same entry given again is acknowledged, since both are masked before they are compared", async () => {
    const recorder = await recorderOf({ data: "memory:", redact: "capture" });
    await recorder.append(itemAt(entries, 0));
    expect(await recorder.append(itemAt(entries, 0))).toMatchObject({ status: "already_recorded" });
  });

  test("an imported export is masked too, and so gets new positions", async () => {
    const folder = folderOfTest();
    const source = await recorderOf({ data: "memory:" });
    await source.append(entries);
    writeFileSync(join(folder, "all.ndjson"), await textOf(source.exportEntries()));
    const target = await recorderOf({ data: join(folder, "copy"), redact: "capture" });
    expect(await target.importFiles(join(folder, "all.ndjson"))).toMatchObject({ added: entries.length, rejected: [] });
    expect(holdsSecret(await textOf(target.exportEntries()))).toBe(false);
    expect(await target.verify()).toMatchObject({ ok: true });
  });

  test("anything but capture is refused, and so are values that ordinary text would hold", async () => {
    const data = "memory:";
    await expect(openRecorder({ data, redact: "never" as "capture" })).rejects.toMatchObject({ field: "redact" });
    await expect(openRecorder({ data, mask: ["short"] })).rejects.toMatchObject({ field: "mask" });
  });
});

test("over HTTP lists are masked, one entry and history are not", async () => {
  const server = await startServer();
  await server.post("/entries", entries);
  for (const path of ["/interactions", "/entries", "/sessions", "/sessions/s", "/sessions/s/entries", "/reflection"]) {
    expect((await server.get(path)).text).not.toContain(TOKEN);
  }
  expect((await server.get("/search?q=needle")).text).not.toContain(TOKEN.slice(4, 14));
  for (const path of ["/export?masked=1", "/entries/1?masked=1", "/entries/i?masked=1"]) {
    expect((await server.get(path)).text).not.toContain(TOKEN);
  }
  expect((await server.get("/entries/i?masked=1")).body).toHaveProperty("context_pack");
  for (const path of ["/interactions/i", "/entries/1", "/sessions/s/history", "/export"]) {
    expect((await server.get(path)).text).toContain(TOKEN);
  }
  expect(await server.get("/entries/1?masked=maybe")).toMatchObject({
    status: 400,
    body: { error: { field: "masked" } },
  });
  expect(await server.get("/export?masked=maybe")).toMatchObject({ status: 400, body: { error: { field: "masked" } } });
});

describe("on the command line", () => {
  test("tables, documents and Markdown are masked, with the user's own values from file, environment and configuration", async () => {
    const cwd = folderOfTest();
    const data = join(cwd, "record");
    await fillStore(data, entries);
    const file = join(cwd, "values.txt");
    writeFileSync(file, `\n${OWN}\n`);
    for (const args of [
      ["list"],
      ["sessions"],
      ["sessions", "s"],
      ["search", "needle"],
      ["export", "--format", "markdown"],
    ]) {
      const { status, stdout } = await runCli([...args, "--mask-file", file], { data });
      expect({ args, status, leaks: holdsSecret(stdout) }).toEqual({ args, status: 0, leaks: false });
    }
    expect((await runCli(["list"], { data, env: { HANSARD_MASK: `${OWN}\nanother` } })).stdout).not.toContain(OWN);
    writeFileSync(join(cwd, "mine.json"), JSON.stringify({ mask: [OWN] }));
    const list = ["list", "--kind", "message", "--config", "mine.json"];
    expect(JSON.stringify(await readJson(list, { data, cwd }))).not.toContain(OWN);
    expect((await readJson(["show", "i"], { data, cwd })).response).toBe(TOKEN);
  });

  test("--redact capture masks what record and import store; a value too short names its place, not itself", async () => {
    const data = folderOfTest();
    await runCli(["record", "--redact", "capture", "--prompt", TOKEN], { data });
    expect((await readJson(["show", "1"], { data })).prompt).toBe("[masked:github_token]");
    expect(await readError(["list", "--json"], { data, env: { HANSARD_MASK: "abc" } })).toMatchObject({
      status: 2,
      code: "setting_invalid",
      field: "HANSARD_MASK",
      message: "value 1 of HANSARD_MASK has fewer than 6 characters",
    });
    expect(await readError(["record", "--redact", "later", "--prompt", "x"], { data })).toMatchObject({ status: 2 });
  });
});
