// Usage through every surface: library, HTTP, and the command line with its screens.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pico from "picocolors";
import stringWidth from "string-width";
import { beforeAll, describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import type { Pane } from "../../src/surfaces/cli/text/terminal.js";
import { usagePlot, usageText } from "../../src/surfaces/cli/text/usage-text.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { readError, readJson, runCli } from "./cli-run.js";
import { serverOfFile } from "./http-client.js";

const SCREENS = fileURLToPath(new URL("../../../test/fixtures/screens/", import.meta.url));
const NOTHING = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

const sample: readonly EntryInput[] = [
  {
    kind: "interaction",
    id: "i1",
    created_at: "2026-03-01T23:59:59Z",
    project: "web",
    client: "app",
    prompt: "p",
    response: "r",
    model: "gpt-5",
    usage: { prompt_tokens: 1_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
  },
  {
    kind: "interaction",
    id: "i2",
    created_at: "2026-03-02T00:00:00Z",
    session_id: "s",
    project: "web",
    prompt: "p",
    model: "claude-sonnet-4-20250514",
    usage: { input_tokens: 1 },
  },
  {
    kind: "response",
    interaction_id: "i2",
    response: "r",
    usage: { input_tokens: 10, cache_read_input_tokens: 2_000 },
  },
  {
    kind: "message",
    created_at: "2026-03-04T10:00:00Z",
    session_id: "s",
    role: "assistant",
    content: "c",
    extra: { model: "house-model", usage: { input_tokens: 7, output_tokens: 3, reasoning_tokens: 2 } },
  },
  // None of these is a call: no answer, no counts, or another speaker.
  { kind: "interaction", id: "i3", prompt: "p", model: "gpt-5" },
  { kind: "interaction", prompt: "p", response: "r", model: "gpt-5", usage: { input_tokens: "12", output_tokens: -3 } },
  { kind: "message", session_id: "s", role: "user", content: "c", extra: { usage: { input_tokens: 5 } } },
  { kind: "tool_call", tool: "t", extra: { usage: { input_tokens: 5 } } },
];
// Sonnet 4: $3 and $0.30 a million; GPT-5: $1.25, $0.125 and $10.
const gpt = { calls: 1, input_tokens: 1_000, output_tokens: 100, cache_read_tokens: 400, cost: 0.0018 };
// Anthropic counts what came from the cache apart from the input; here it is part of it, as with every other provider.
const claude = { calls: 1, input_tokens: 2_010, output_tokens: 0, cache_read_tokens: 2_000, cost: 0.00063 };
const house = { calls: 1, input_tokens: 7, output_tokens: 3, reasoning_tokens: 2 };

test("each call counts once, under the day, model and labels it has", async () => {
  const { recorder } = memoryRecorder();
  const { version } = JSON.parse(
    readFileSync(join(repositoryRoot, "node_modules/@pydantic/genai-prices/package.json"), "utf8"),
  );
  expect(await recorder.usage()).toEqual({
    by: ["day", "model"],
    rows: [],
    total: NOTHING,
    unpriced: [],
    timezone: "UTC",
    prices: { source: "@pydantic/genai-prices", version, date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
  });
  await recorder.append(sample);
  const report = await recorder.usage();
  expect(report.rows).toEqual([
    { day: "2026-03-01", model: "gpt-5", ...NOTHING, ...gpt },
    { day: "2026-03-02", model: "claude-sonnet-4-20250514", ...NOTHING, ...claude },
    { day: "2026-03-04", model: "house-model", ...NOTHING, ...house },
  ]);
  expect(report.total).toMatchObject({ calls: 3, input_tokens: 3_017, output_tokens: 103, cost: 0.00243 });
  expect(report.unpriced).toEqual(["house-model"]);
  const by = async (...names: readonly ("project" | "client" | "session")[]) =>
    (await recorder.usage({ by: names })).rows.map((row) => [...names.map((name) => row[name]), row.calls]);
  expect(await by("project")).toEqual([
    ["web", 2],
    ["", 1],
  ]);
  expect(await by("session", "client")).toEqual([
    ["", "app", 1],
    ["s", "", 2],
  ]);
  expect((await recorder.usage({ by: "session", since: "2026-03-02", until: "2026-03-03" })).total.calls).toBe(1);
  for (const wrong of ["year", "day,,model", "Day", ",", [], [7]]) {
    await expect(recorder.usage({ by: wrong as string })).rejects.toMatchObject({ code: "field_invalid", field: "by" });
  }
});

test("forgotten calls are no longer in the sums, and the rest of a call still is", async () => {
  const recorder = await openRecorder({ data: folderOfTest() });
  const told = (id: string, session_id: string, output_tokens: number): EntryInput => ({
    kind: "message",
    id,
    session_id,
    role: "assistant",
    content: "c",
    extra: { message_id: "msg", usage: { input_tokens: 1, output_tokens } },
  });
  await recorder.append([told("a", "s", 5), told("b", "fork", 3), ...sample]);
  const all = (await recorder.usage()).total;
  expect(all).toMatchObject({ calls: 4, output_tokens: 108 });
  await recorder.forget({ entry: "a", reason: "test" });
  expect((await recorder.usage()).total).toEqual({ ...all, output_tokens: 106 });
  await recorder.forget({ session_id: "fork", reason: "test" });
  expect((await recorder.usage()).total).toMatchObject({ calls: 3, output_tokens: 103 });
  await recorder.rebuildIndex();
  expect((await recorder.usage()).total).toMatchObject({ calls: 3, output_tokens: 103 });
  await recorder.close();
});

describe("over HTTP", () => {
  const server = serverOfFile();
  beforeAll(() => server().recorder.append(sample));

  test("GET /usage answers as the library does, and refuses what it does not know", async () => {
    const { status, body } = await server().get("/usage?by=model&project=web");
    expect(status).toBe(200);
    expect(body).toEqual(await server().recorder.usage({ by: "model", project: "web" }));
    expect(body.rows.map((row: { readonly model: string }) => row.model)).toEqual([
      "gpt-5",
      "claude-sonnet-4-20250514",
    ]);
    const refused = await server().get("/usage?by=year");
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ code: "field_invalid", field: "by" });
    expect((await server().get("/usage?prices=/etc/passwd")).body.error).toMatchObject({ code: "parameter_unknown" });
  });
});

describe("on the command line", () => {
  const folder = folderOfFile();
  const data = join(folder, "store");
  const prices = join(folder, "prices.json");

  beforeAll(async () => {
    writeFileSync(prices, JSON.stringify({ "house-model": { input_cost_per_token: 1, output_cost_per_token: 2 } }));
    const recorder = await openRecorder({ data });
    await recorder.append(sample);
    await recorder.close();
  });

  test("--json is the HTTP document, with a file of prices in the place of those that are known", async () => {
    const report = await readJson(["usage", "--by", "model", "--since", "2026-03-02"], { data });
    expect(report).toMatchObject({ by: ["model"], total: { calls: 2, cost: 0.00063 }, unpriced: ["house-model"] });
    const own = await readJson(["usage", "--by", "model", "--prices", prices], { data });
    expect(own).toMatchObject({ total: { cost: 13 }, unpriced: ["claude-sonnet-4-20250514", "gpt-5"] });
    expect(own.prices).toEqual({ source: "prices.json", date: expect.any(String) });
  });

  test("an invalid price file is one clear error, for a server too, before it serves anything", async () => {
    expect(await readError(["usage", "--by", "year"], { data })).toMatchObject({ field: "by" });
    writeFileSync(join(folder, "bad.json"), "{");
    for (const command of [["usage"], ["serve", "--port", "0"]]) {
      const { status, stdout, stderr } = await runCli([...command, "--prices", join(folder, "bad.json")], { data });
      expect([status !== 0, stdout]).toEqual([true, ""]);
      expect(stderr).toMatch(/^error: .*bad\.json is not JSON[\s\S]*LiteLLM/);
    }
  });

  test("if nothing was counted, a sentence says what would be", async () => {
    const { status, stdout } = await runCli(["usage", "--project", "nobody"], { data });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^No usage recorded\./);
  });

  test.each([40, 80, 120])("a table and a plot fit into %i columns", async (columns) => {
    const { recorder } = memoryRecorder();
    await recorder.append(many());
    const pane: Pane = { isTerminal: true, columns, colours: pico.createColors(false), write: () => undefined };
    const drawn: string[] = [];
    for (const by of ["day,model", "project", "client,session"]) {
      const report = await recorder.usage({ by });
      drawn.push(usageText(report, pane), await usagePlot(report, pane), "\n");
    }
    const text = drawn.join("");
    expect(text.split("\n").filter((line) => stringWidth(line) > columns)).toEqual([]);
    await expect(text).toMatchFileSnapshot(join(SCREENS, `usage-${columns}.txt`));
  });
});

/** Two weeks of work on three projects, with an in-house model that has no price. */
function many(): readonly EntryInput[] {
  const models = ["claude-sonnet-4-20250514", "gpt-5", "家のモデル-v2"];
  return Array.from(
    { length: 60 },
    (_, nth): EntryInput => ({
      kind: "interaction",
      prompt: "p",
      response: "r",
      model: itemAt(models, nth % 3),
      created_at: new Date(Date.UTC(2026, 2, 1 + ((nth * nth) % 14), 12)).toISOString(),
      project: itemAt(["web", "billing", ""], nth % 3),
      client: itemAt(["app", "cli"], nth % 2),
      session_id: `1af7fc5e-8455-4414-9ccd-011d40f70b2${nth % 4}`,
      usage: { input_tokens: nth * 1_000, output_tokens: nth * 137, cache_read_tokens: nth * 100 },
    }),
  );
}
