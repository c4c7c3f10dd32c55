// `hansard` without arguments: on a terminal what is on this machine and what is new, otherwise the help.
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { agentHistories } from "../../src/import/histories.js";
import { knownPlaces } from "../../src/import/places.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { runCli } from "./cli-run.js";
import { runOnTerminal } from "./terminal-run.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A home folder with transcripts of these ages in days, by their path in `.claude/projects`. */
function homeWith(ages: { readonly [path: string]: number }, settings?: object): string {
  const home = join(folderOfTest(), "home");
  for (const [name, days] of Object.entries(ages)) {
    const path = join(home, ".claude", "projects", "-srv-shop", `${name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const message = { role: "user", content: `Words of ${name}` };
    const at = new Date(Date.now() - 60_000).toISOString();
    writeFileSync(
      path,
      `${JSON.stringify({ type: "user", uuid: `u-${name}`, sessionId: name, timestamp: at, message })}\n`,
    );
    utimesSync(path, new Date(), new Date(Date.now() - days * DAY_MS));
  }
  if (settings !== undefined) writeFileSync(join(home, ".claude", "settings.json"), JSON.stringify(settings));
  return home;
}

const ages = { "aaaa-new": 1, "bbbb-soon": 24, "cccc-late": 40, "aaaa-new/subagents/agent-1": 29 };

test("histories are counted without reading a file, with what their tool deletes within 7 days, the next first", async () => {
  const home = homeWith(ages);
  const places = knownPlaces({ env: {}, home, platform: "linux" });
  const [found, ...others] = await agentHistories(Date.now(), places);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ tool: "claude-code", sessions: 3, places: [join(home, ".claude", "projects")] });
  expect(Math.round((Date.now() - (found?.oldest_ms ?? 0)) / DAY_MS)).toBe(40);
  expect(found?.cleanup?.after_days).toBe(30);
  expect(found?.cleanup?.due.map(({ session_id }) => session_id)).toEqual(["cccc-late", "bbbb-soon"]);
});

test.each([
  [{ cleanupPeriodDays: 365 }, 365, 0],
  [{ cleanupPeriodDays: 0 }, 30, 2],
  [{ cleanupPeriodDays: "soon" }, 30, 2],
])("the tool's own settings say when: %j", async (settings, after_days, due) => {
  const places = knownPlaces({ env: {}, home: homeWith(ages, settings), platform: "linux" });
  const [found] = await agentHistories(Date.now(), places);
  expect({ after_days: found?.cleanup?.after_days, due: found?.cleanup?.due.length }).toEqual({ after_days, due });
});

test("on a terminal it says what is there and what keeps it; once that is done, what is new since the last look", async () => {
  const home = homeWith(ages);
  const data = join(folderOfTest(), "record");
  const env = { HOME: home };
  const look = async (): Promise<string> => {
    const { status, text } = await runOnTerminal([], { data, columns: 80, env });
    expect(status).toBe(0);
    const plain = stripVTControlCharacters(text);
    expect(plain.split("\n").every((line) => line.length <= 80)).toBe(true);
    return plain;
  };
  const first = await look();
  expect(first).toMatch(/claude-code +3 +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d +~\/\.claude\/projects/);
  expect(first.replace(/\s+/g, " ")).toContain("2 sessions go within 7 days.");
  expect(first).toMatch(/\n {2}hansard import\n/);
  expect((await runCli(["import", "--yes"], { data, env })).status).toBe(0);
  const second = await look();
  expect(second).toContain("Since 7 days ago: 3 sessions");
  expect(second).toContain("Words of");
  expect(second).not.toContain("hansard import");
  const looks = readFileSync(join(home, ".local", "state", "hansard", "last-look.json"), "utf8");
  expect(Object.keys(JSON.parse(looks))).toEqual([data]);
  expect(await look()).toContain("Since 1 minute ago: nothing new");
});

test("a machine without agents, and a last look that cannot be read, are no failure", async () => {
  const home = join(folderOfTest(), "home");
  mkdirSync(join(home, ".local", "state", "hansard", "last-look.json"), { recursive: true });
  const data = join(folderOfTest(), "record");
  const env = { HOME: home };
  expect((await runOnTerminal([], { data, columns: 80, env })).text).toContain("No histories of known agents");
  expect((await runCli(["record", "--prompt", "x", "--session", "s"], { data, env })).status).toBe(0);
  expect((await runOnTerminal(["--data", data], { data: "elsewhere", columns: 80, env })).text).toContain("1 session");
});

test("without a terminal it is the help, as before; other words are still unknown commands", async () => {
  const { status, stderr } = await runCli([]);
  expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining("Usage: hansard") });
  const { status: wrong, text } = await runOnTerminal(["frobnicate"], { data: folderOfTest(), columns: 80 });
  expect({ wrong, text }).toMatchObject({ wrong: 2, text: expect.stringContaining("unknown command") });
});
