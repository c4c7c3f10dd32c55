// Every view of the page with a week's story: in both themes, wide and on a phone, for those who listen, and by keyboard.
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { loadDemo } from "../../src/recorder/demo.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { serverOfFile, startServer } from "./http-client.js";
import { browserOfFile, overflowOf } from "./page-browser.js";

const server = serverOfFile();
const open = browserOfFile();
const MARCH = `/ui/sessions/${encodeURIComponent("atlas/invoices-march")}`;

beforeAll(() => loadDemo(server().recorder, Date.now()));

const views: readonly (readonly [name: string, address: string, shows: string])[] = [
  ["home", "/ui/", ".day-rows li"],
  ["entries", "/ui/entries?range=7d", ".entry-line"],
  ["costs", "/ui/costs", ".costs tbody tr"],
  ["sessions", "/ui/sessions", ".contents-page tbody tr"],
  ["session", `${MARCH}?q=ledger`, ".transcript mark"],
  ["search", "/ui/search?q=rounding", "mark"],
  ["entry", "/ui/entries/demo-decision-rounding", ".entry-page pre"],
  ["insights", "/ui/insights", "svg.plot .bar"],
  ["review", "/ui/memory", ".quoted mark"],
  ["memories", "/ui/memory?tab=active", ".memories li"],
  ["memory", "/ui/memory/demo-memory-ledger", ".quoted mark"],
  ["system", "/ui/system", ".doctor button"],
];

const sheets = [
  { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { colorScheme: "dark", viewport: { width: 390, height: 844 } },
] as const;

test.each(views)(
  "%s is whole, in its place and told to those who listen, light and dark",
  async (_, address, shows) => {
    const { page, asked, problems } = await open(`${server().address}${address}`);
    for (const { colorScheme, viewport } of sheets) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.locator(shows).first().waitFor();
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      const found = serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
      expect(found, colorScheme).toEqual([]);
      expect(await overflowOf(page), colorScheme).toBe(0);
    }
    expect(problems).toEqual([]);
    expect(asked.filter((each) => !each.startsWith(`${server().address}/`))).toEqual([]);
  },
);

test("from anywhere to the place of a word by keyboard alone, and on to the next one", async () => {
  const { page } = await open(`${server().address}/ui/sessions`);
  await page.locator(".contents-page tbody tr").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("412 March");
  await page.keyboard.press("Enter");
  await page.locator(".entry-line:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".transcript .line[data-here] mark").first().waitFor();
  expect(await page.getByLabel("Find in this session").inputValue()).toBe("412 March");
  await page.goBack();
  await page.locator(".entry-line mark").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
});

test("two keys lead to a view also if the second has its own action, and Enter opens the focused element", async () => {
  const { page } = await open(`${server().address}/ui/memory`);
  await page.getByRole("button", { name: "Accept" }).waitFor();
  const sessions = page.getByRole("heading", { name: "Sessions" });
  // On a busy machine the second may come too late, and once more does no harm.
  await expect.poll(() => page.keyboard.type("gs").then(() => sessions.isVisible())).toBe(true);
  await page.goto(`${server().address}${MARCH}`);
  await page.locator(".line").first().waitFor();
  await page.getByRole("link", { name: "System", exact: true }).press("Enter");
  await page.getByRole("heading", { name: "System" }).waitFor();
});

test("a filter completes itself while it is typed, and facets narrow down", async () => {
  const { page } = await open(`${server().address}/ui/search?q=timeout`);
  await page.locator(".facets a", { hasText: "error" }).click();
  await expect.poll(() => page.getByLabel("Search the record").inputValue()).toBe("timeout kind:error");
  await page.keyboard.press("/");
  await page.getByLabel("Search the record").fill("timeout kind:dec");
  await page.getByRole("option", { name: "kind:decision" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByLabel("Search the record").inputValue()).toBe("timeout kind:decision ");
});

test("matches that only a kind finds are counted as links, and memories say their status", async () => {
  const { page } = await open(`${server().address}/ui/search?q=ledger`);
  await page
    .locator(".facets", { hasText: "Not shown" })
    .getByRole("link", { name: /^memory \d+/ })
    .click();
  await expect.poll(() => page.getByLabel("Search the record").inputValue()).toBe("ledger kind:memory");
  await page.locator(".entry-line[data-kind=memory_proposed]", { hasText: "active" }).first().waitFor();
  await expect.poll(() => page.getByText("Not shown").count()).toBe(0);
});

test("drawing across the strip of activity chooses a time, and the address keeps it", async () => {
  const { page } = await open(`${server().address}/ui/entries?range=7d`);
  await page.locator(".activity .bar").first().waitFor();
  const strip = page.locator(".activity svg");
  // Each place is looked up again, and only once nothing moves.
  await strip.hover({ position: { x: 300, y: 20 } });
  await page.mouse.down();
  await strip.hover({ position: { x: 700, y: 20 } });
  await page.mouse.up();
  await expect.poll(() => new URL(page.url()).searchParams.get("until")).toMatch(/^\d{4}-/);
  await page.locator(".brush").waitFor();
});

test("a damaged shared part is shown with every entry that uses it", async () => {
  const data = folderOfTest();
  const path = join(data, "log.db");
  const log = SqliteLog.open({ path, mode: "create" });
  const error = "what was said before ".repeat(500);
  for (const id of ["one", "two"]) {
    await log.append([[newEntry(id, { kind: "error", body: Buffer.from(JSON.stringify({ id, error })) })]]);
  }
  await log.close();
  const db = new Database(path);
  db.exec(`DROP TRIGGER parts_never_updated;
    UPDATE parts SET bytes = CAST(replace(CAST(bytes AS TEXT), 'before', 'behind') AS BLOB)`);
  db.close();
  const { page } = await open(`${(await startServer({ data })).address}/ui/system`);
  const verdict = page.locator(".verdict [role=alert]");
  await verdict.waitFor();
  expect(await verdict.textContent()).toContain("Entries with the damaged part: #1, #2.");
});

test("the choice of light or dark is remembered", async () => {
  const { page } = await open(`${server().address}/ui/system`, { colorScheme: "light" });
  await page.getByRole("button", { name: "Auto" }).click();
  await page.getByRole("button", { name: "Light" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Dark" }).waitFor();
  expect(await paperOf(page)).toBe("rgb(21, 21, 19)");
});

function paperOf(page: Page): Promise<string> {
  return page.evaluate("getComputedStyle(document.body).backgroundColor");
}

test("memories are listed by the client whose answers used them, and system entries by what they are about", async () => {
  const { page } = await open(`${server().address}/ui/memory?tab=active`);
  const rows = page.locator(".memories li");
  await rows.nth(1).waitFor();
  await page.getByLabel("used by").selectOption("support-chat");
  await expect.poll(() => rows.locator("a").allTextContents()).toEqual(["The ledger always wins over the invoice"]);
  expect(new URL(page.url()).searchParams.get("client")).toBe("support-chat");
  await page.getByLabel("used by").selectOption("cursor");
  await page.getByText("Answers of cursor used none of them").waitFor();
  await page.goto(`${server().address}/ui/entries?range=7d`);
  await page.getByRole("button", { name: /^\d+ notes: .*reinforced/ }).click();
  await page.getByRole("link", { name: /reinforced The ledger always wins over the invoice given, used/ }).waitFor();
  await expect.poll(() => page.getByText("demo-memory").count()).toBe(0);
});

test("the dot says when the chain was last verified, and what is wrong with it", async () => {
  const { page } = await open(`${server().address}/ui/sessions`);
  await expect
    .poll(() => page.locator(".state").getAttribute("title"))
    .toMatch(/^Verified just now, \d+ entries, version/);
  await page.route("**/verify", (route) =>
    route.fulfill({ json: { ok: false, position: 7, entries: 6, erased: 0, reason: "hash_differs" } }),
  );
  await page.goto(`${server().address}/ui/system`);
  await expect.poll(() => page.locator(".state").getAttribute("title")).toMatch(/^Verification failed at entry 7/);
});

const UNDO_MS = 10_000;

test("a candidate is judged with one key, and until then the verdict can be taken back", async () => {
  // Time passes where the test says so: a verdict is not recorded because a machine is slow.
  const { page } = await open("about:blank");
  await page.clock.install();
  await page.goto(`${server().address}/ui/memory`);
  await page.getByRole("button", { name: "Accept" }).waitFor();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  const statement = page.locator(".candidate .statement");
  const status = async (id: string): Promise<string> => (await server().get(`/memories/${id}`)).body.status;
  await page.getByRole("button", { name: "Route pins expire after 60 minutes" }).click();
  await page.getByText("Contradicts 1 memory").waitFor();
  const sides = page.getByRole("region", { name: "Contradiction" });
  await sides.getByText("Route pins expire after 10 minutes", { exact: true }).waitFor();
  // Keys do nothing until the page knows what its reader may do.
  await page.getByRole("button", { name: "Accept" }).waitFor();
  await page.keyboard.press("a");
  await page.getByText("Accepted “Route pins expire after 60 minutes”.").waitFor();
  // What is held back waits no longer, however often the server counts it.
  await page.clock.runFor(UNDO_MS - 1_000);
  expect(
    await page
      .getByRole("link", { name: /^Memory/ })
      .locator(".pending")
      .textContent(),
  ).toBe(" 4");
  await page.keyboard.press("u");
  await expect.poll(() => statement.textContent()).toBe("Route pins expire after 60 minutes");
  await page.keyboard.press("r");
  await page.keyboard.press("1");
  await page.getByText("Rejected “Route pins expire after 60 minutes”.").waitFor();
  await page.getByRole("button", { name: "Always run make unlock" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("New wording").fill("Run make unlock before every second deploy");
  await page.getByRole("button", { name: "Accept" }).click();
  // The next verdict is the end of the one before, which until then could be taken back.
  await expect.poll(() => status("demo-candidate-pins")).toBe("rejected");
  expect(await status("demo-candidate-unlock")).toBe("candidate");

  // Two reviewers at once: the second verdict is refused, and the page says so.
  await page.getByRole("button", { name: "Preise immer in Cent" }).click();
  await server().post("/memories/demo-candidate-cent/promote", {});
  await page.getByRole("button", { name: "Accept" }).click();
  await expect.poll(() => status("demo-candidate-unlock")).toBe("active");
  expect((await server().get("/memories/demo-candidate-unlock")).body.content).toMatch(/every second deploy/);
  await page.keyboard.press("a");
  await page.getByText("Someone else has already reviewed it").waitFor();

  // Ten seconds later it is recorded, and who leaves the page has decided.
  const left = async (): Promise<number> => (await server().get("/memories?status=candidate")).body.pending;
  expect(await left()).toBe(2);
  await page.clock.runFor(UNDO_MS);
  await expect.poll(left).toBe(1);
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "You’re all caught up." }).waitFor();
  await page.getByRole("link", { name: "Active", exact: true }).click();
  await expect.poll(left).toBe(0);
  await page.getByText(/Agents/).waitFor();
});

test("a marked sentence becomes a candidate with one key, its evidence filled in", async () => {
  const { page } = await open(`${server().address}/ui/sessions/${encodeURIComponent("kestrel/slow-queries")}`);
  const sentence = page.getByText("One of three instances does nearly all the work");
  // Until the page knows what its reader may do, the key does nothing.
  await page.getByRole("button", { name: "Export" }).waitFor();
  await sentence.click({ clickCount: 3 });
  await page.keyboard.press("m");
  await page.getByText("Proposed “One of three instances does nearly all the work").waitFor();
  const newest = async () => (await server().get("/memories?status=candidate&source=person")).body.memories;
  expect((await newest())[0].evidence[0].quote).toMatch(/^One of three instances/);

  // Words that were set from Markdown are quoted as they were recorded; a statement dropped by a gate can be reworded.
  await page.getByText("The weekly job pins its customers").click({ clickCount: 3 });
  await page.keyboard.press("m");
  await page.getByRole("link", { name: "It is in the review queue." }).waitFor();
  const quotes = async () =>
    (await newest()).map(({ evidence }: { evidence: { quote: string }[] }) => evidence[0]?.quote);
  await expect.poll(quotes).toContainEqual(expect.stringContaining("customers to `search-0`, and"));
  await page.getByText("It might be. I have not looked at its log").click({ clickCount: 3 });
  await page.keyboard.press("m");
  await page.getByRole("form", { name: "Propose a memory" }).getByText("Not proposed").waitFor();
  await page.getByLabel("Statement").fill("The numbers do not rule the collector out");
  await page.getByRole("button", { name: "Propose" }).click();
  await page.getByText("Proposed “The numbers do not rule").waitFor();
});

test("what a key may not do is not offered", async () => {
  const { keys } = server().recorder;
  const reader = await keys.create({ scope: "read" });
  const { page } = await open(`${server().address}/ui/memory`);
  await page.getByLabel("Key").fill(reader.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key can read but not review.").waitFor();
  expect(await page.getByRole("button", { name: "Accept" }).count()).toBe(0);
  // On in the same page, which knows by now what the key may do.
  await page.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("link", { name: "Invoice totals off by one cent" }).click();
  await page.locator(".line").first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Copy as API messages" }).count()).toBe(2);
  expect(await page.getByRole("button", { name: /^(?:Export|Good answer)$/ }).count()).toBe(0);
  for (const { id } of (await keys.list()).keys) await keys.revoke(id);
});

test("insights look at the last 7 days, offer a longer time if nothing happened, and name the commands that fail", async () => {
  const own = await startServer();
  const created_at = new Date(Date.now() - 20 * 86_400_000).toISOString();
  const ran = (command: string) => ({
    ...{ kind: "tool_call", session_id: "s", tool: "bash", created_at, is_error: true },
    args: { command },
    result: "error TS2345: no such token",
  });
  await own.post("/entries", [
    { kind: "message", session_id: "s", role: "user", content: "Build it", created_at },
    ran("npm run build"),
    ran("npm run build -- --force"),
  ]);
  const { page, problems } = await open(`${own.address}/ui/insights`);
  await page.getByText("Not enough activity in the last 7 days.").waitFor();
  await page.getByRole("link", { name: "Show 30 days" }).click();
  const failing = page.locator("section", { has: page.getByRole("heading", { name: "Failing commands" }) });
  await failing.getByText("failed 2 of 2 times").waitFor();
  await failing.getByText("error TS2345: no such token").waitFor();
  expect(new URL(page.url()).searchParams.get("period")).toBe("30d");
  await failing.getByRole("link", { name: "npm run build" }).click();
  await page.locator(".entry-line", { hasText: "npm run build" }).first().waitFor();
  await page.goBack();
  await failing.getByRole("link", { name: "2 entries" }).click();
  await page.locator(".entry-page").waitFor();
  expect(problems).toEqual([]);
});
