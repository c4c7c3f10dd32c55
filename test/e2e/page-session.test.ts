// One session in the browser: read, searched, judged and followed, however long it is and whatever is in it.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { loadDemo } from "../../src/recorder/demo.js";
import { storeOfTest } from "../support/store.js";
import { serverOfFile, startServer } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const server = serverOfFile();
const open = browserOfFile();
const MARCH = `/ui/sessions/${encodeURIComponent("atlas/invoices-march")}`;

beforeAll(() => loadDemo(server().recorder, Date.now()));

test("the keys go from entry to entry, to errors and to matches, and open them", async () => {
  const { page } = await open(`${server().address}${MARCH}`);
  const here = page.locator(".line[data-here]");
  await page.locator(".line").first().waitFor();
  await page.keyboard.press("j");
  await expect.poll(() => here.textContent()).toContain("The invoice totals are off by one cent");
  await page.keyboard.press("e");
  await expect.poll(() => here.textContent()).toContain("npm test -- rounding");
  await page.keyboard.press("o");
  await here.getByText("expected 10412.36 to be 10412.35").waitFor();
  await page.keyboard.press("E");
  await page.keyboard.press("f");
  await page.keyboard.type("ledger wins");
  await expect.poll(() => page.locator(".find output").textContent()).toBe("2");
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await expect.poll(() => here.textContent()).toContain("the ledger always wins over the invoice");
  expect(await here.locator("mark").allTextContents()).toEqual(expect.arrayContaining(["ledger", "wins"]));
  await page.keyboard.press("n");
  await expect.poll(() => here.textContent()).toContain("Use banker's rounding");
  await page.keyboard.press("p");
  await expect.poll(() => here.textContent()).toContain("the ledger always wins over the invoice");
  expect(new URL(page.url()).hash).toMatch(/^#\d+$/);
  await page.keyboard.press("G");
  await expect.poll(() => here.textContent()).toContain("4f2c9aa");
});

test("a subagent is a line in its place, with its outline, and leads to its own session and back", async () => {
  const { page } = await open(`${server().address}${MARCH}`);
  await page.locator(".line").first().waitFor();
  await page.keyboard.press("G");
  await page.getByRole("button", { name: "outline" }).click();
  const outline = page.getByRole("list", { name: "Outline of the subagent" });
  await outline.getByText("List every place that rounds money").waitFor();
  await outline.getByText("4 tool calls: grep, read_file").waitFor();
  await page.locator(".transcript").getByRole("link", { name: "Audit: every place that rounds money" }).click();
  await page.locator(".transcript").getByText("For each say whether it agrees").waitFor();
  await page.getByRole("link", { name: "atlas/invoices-march" }).click();
  await page.getByRole("heading", { name: "Invoice totals off by one cent" }).waitFor();
});

test("a call that was recorded as a request and as a message is one row", async () => {
  const recorder = server().recorder;
  const session = recorder.session("one-call");
  await session.message({ role: "user", content: "Which tide?" });
  await session.interaction({ prompt: "Which tide?", response: "The morning tide.", context_pack: { messages: [] } });
  await session.message({ role: "assistant", content: "The morning tide." });
  const { page } = await open(`${server().address}/ui/sessions/one-call`);
  await page.getByText("The morning tide.").first().waitFor();
  expect(await page.getByText("The morning tide.").count()).toBe(1);
});

test("an answer is judged in place, and copied as a model would be given it", async () => {
  const { page } = await open(`${server().address}${MARCH}`, { permissions: ["clipboard-read", "clipboard-write"] });
  const line = page.locator(".line", { hasText: "I will read the rounding code first" });
  await line.hover();
  await line.getByRole("button", { name: "Bad answer" }).click();
  await expect.poll(() => line.getByRole("button", { name: "Bad answer" }).getAttribute("aria-pressed")).toBe("true");
  await expect
    .poll(async () =>
      (await server().get("/entries?is=disliked")).body.entries.map((entry: { content: string }) => entry.content),
    )
    .toContain("I will read the rounding code first, then compare a few March invoices with the ledger.");
  const history = `/sessions/${encodeURIComponent("atlas/invoices-march")}/history`;
  const expectCopied = async (name: string, path: string): Promise<void> => {
    await page.getByRole("button", { name: `Copy as API messages for ${name}` }).click();
    await page.getByText(/\d+ messages copied/).waitFor();
    // The words of the copy before may still stand there.
    const { body } = await server().get(path);
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(JSON.stringify(body, null, 2));
  };
  await expectCopied("OpenAI", history);
  await expectCopied("Anthropic", `${history}?format=anthropic`);
});

test("what a program injected is folded, starts no turn, and gives the session no title", async () => {
  const injected = { kind: "message", session_id: "told/of-veils", role: "user", injected: "file" } as const;
  await server().post("/entries", [
    { ...injected, content: "AGENTS.md: always wear the veil." },
    { kind: "message", session_id: "told/of-veils", role: "user", content: "How many hives are there?" },
  ]);
  const { page } = await open(`${server().address}/ui/sessions/${encodeURIComponent("told/of-veils")}`);
  const line = page.locator(".line", { hasText: "File, 32 characters" });
  await line.waitFor();
  expect(await line.getAttribute("data-speaker")).toBe("injected");
  await page.getByRole("heading", { name: "How many hives are there?" }).waitFor();
  const text = line.getByText("AGENTS.md: always wear the veil.");
  expect(await text.isVisible()).toBe(false);
  await line.getByText("File, 32 characters").click();
  await text.waitFor();
});

test("an answer says what the model saw, and what had changed since the previous answer", async () => {
  const { page } = await open(`${server().address}/ui/sessions/${encodeURIComponent("kestrel/assistant")}`);
  const line = page.locator(".line", { hasText: "Can I use regular expressions?" });
  await line.hover();
  await line.getByRole("button", { name: "given 1 chunk" }).click();
  await line.getByText(/^Given 3 messages · 1 chunk · \d+ tokens, exactly as recorded\./).waitFor();
  await line.getByText("1 kept, 2 added, 0 removed.").waitFor();
  await line.getByRole("link", { name: "docs/roadmap.md#regex" }).waitFor();
  const question = line.getByRole("searchbox", { name: "Was this in the context?" });
  await question.fill("REGULAR expressions?");
  await question.press("Enter");
  await line.getByText("Given", { exact: true }).waitFor();
  await line
    .getByText(/\d+ tokens? from the end/)
    .first()
    .waitFor();
  // On a phone the words have the width for themselves.
  const usual = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const place = line.locator(".told li").first();
  const width = async (part: typeof place): Promise<number> => (await part.boundingBox())?.width ?? 0;
  await expect.poll(async () => (await width(place.locator("[dir]"))) / (await width(place))).toBeGreaterThan(0.8);
  if (usual !== null) await page.setViewportSize(usual);
  await question.fill("use semaphores");
  await question.press("Enter");
  await line.getByText("Never given", { exact: true }).waitFor();
  await page.goto(`${server().address}${MARCH}`);
  await page.locator(".line").first().waitFor();
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await page.getByText(/^Given \d+ messages · \d+ tokens, reconstructed from the session/).waitFor();
});

test("what comes while one reads further up waits, and follows a reader who is at the end", async () => {
  const said = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      kind: "message",
      session_id: "live",
      role: "user",
      content: `line ${at}`,
    }));
  await server().post("/entries", said(60));
  const { page } = await open(`${server().address}/ui/sessions/live`);
  await page.locator(".line", { hasText: "line 0" }).waitFor();
  await page.locator('.map[data-whole="true"]').waitFor();
  await server().post("/entries", { kind: "message", session_id: "live", role: "user", content: "the newest" });
  await page.getByRole("button", { name: "1 new" }).click();
  await page.locator(".transcript").getByText("the newest", { exact: true }).waitFor();
  // Until the page knows that its reader is at the end, what comes waits.
  await page.getByRole("button", { name: "1 new" }).waitFor({ state: "hidden" });
  await server().post("/entries", { kind: "message", session_id: "live", role: "user", content: "and one more" });
  await page.locator(".transcript").getByText("and one more", { exact: true }).waitFor();
  const leftPx = "(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)";
  const toTheEnd = () => page.evaluate<number>(`${leftPx}(document.querySelector(".transcript"))`);
  await expect.poll(toTheEnd).toBeLessThan(5);
  const tall = `${"a paragraph\n\n".repeat(30)}its last line`;
  await server().post("/entries", { kind: "message", session_id: "live", role: "user", content: tall });
  await page.locator(".transcript").getByText("its last line", { exact: true }).waitFor();
  await expect.poll(toTheEnd).toBeLessThan(5);
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("pictures that lie in the record are shown, others are named, and none is asked for", async () => {
  const url = `data:image/png;base64,${PIXEL}`;
  await server().post("/entries", [
    {
      kind: "message",
      session_id: "seen",
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
        { type: "image_url", image_url: { url: "https://example.com/tracker.png" } },
        { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PHN2Zy8+" } },
      ],
    },
    { kind: "tool_call", session_id: "seen", tool: "screenshot", result: [{ type: "input_image", image_url: url }] },
  ]);
  const { page, asked, problems } = await open(`${server().address}/ui/sessions/seen`);
  await page.getByText("[image: https://example.com/tracker.png]").waitFor();
  await page.getByText("[image: image/svg+xml]").waitFor();
  await page.getByRole("button", { name: "screenshot" }).click();
  // A picture is there before it is drawn, and has no width until then.
  const widths = () =>
    page.locator("img").evaluateAll((all) => all.map((each) => (each as { naturalWidth?: number }).naturalWidth));
  await expect.poll(widths).toEqual([1, 1, 1]);
  expect(asked.filter((each) => !each.startsWith(server().address) && !each.startsWith("data:"))).toEqual([]);
  expect(problems).toEqual([]);
});

test("a session that is forgotten while it is open is gone from the page", async () => {
  await server().post("/entries", { kind: "message", session_id: "gone", role: "user", content: "not for long" });
  const { page } = await open(`${server().address}/ui/sessions/gone`);
  await page.getByText("not for long").first().waitFor();
  await server().post("/forget", { session_id: "gone", reason: "somebody asked" });
  await page.getByRole("heading", { name: "This session isn’t in this store." }).waitFor();
  expect(await page.content()).not.toContain("not for long");
});

test("texts of five megabytes and lines of 200,000 characters are shown, step by step", async () => {
  await server().post("/entries", [
    { kind: "message", session_id: "huge", role: "user", content: `${"word ".repeat(1_000_000)}the end` },
    { kind: "tool_call", session_id: "huge", tool: "cat", result: "x".repeat(200_000), is_error: true },
    { kind: "message", session_id: "huge", role: "assistant", content: "y".repeat(200_000) },
    {
      kind: "message",
      session_id: "huge",
      role: "assistant",
      content: `${"| a ".repeat(50_000)}\n${"[".repeat(50_000)}`,
    },
    { kind: "tool_call", session_id: "huge", tool: "npm", result: "\u001b[1m\u001b[32m12 passed\u001b[39m\u001b[22m" },
    { kind: "error", session_id: "huge", error: "\u001b[31mred\u001b[0m \u202Ereversed" },
  ]);
  const { page, problems } = await open(`${server().address}/ui/sessions/huge`);
  await page.getByRole("button", { name: /Show 4,\d{3},\d{3} more characters/ }).waitFor();
  await page.keyboard.press("G");
  // As a terminal shows it, and turned around for itself alone; the raw view has every sign.
  expect(await page.locator(".error-text").textContent()).toBe("red \u202Ereversed");
  const turning = "getComputedStyle(document.querySelector('.error-text')).unicodeBidi";
  expect(await page.evaluate<string>(turning)).toMatch(/^isolate/);
  const npm = page.locator(".call", { hasText: "npm" });
  await npm.getByRole("button", { name: "npm" }).click();
  expect(await npm.locator("pre").textContent()).toBe("12 passed");
  await npm.getByRole("button", { name: "Raw" }).click();
  await npm.getByText("\\u001b[32m12 passed").waitFor();
  await page.keyboard.press("e");
  expect(problems).toEqual([]);
});

const PLACES = 20_000;

test("a long session opens at the address's entry, also while its index is built, and keeps its place", async () => {
  // Recorded without a read, so not indexed yet. Reads that would wait for the index learn at once what it lacks,
  // as they are with a far longer session.
  const data = await storeOfTest();
  const recorder = await openRecorder({ data });
  await fill("long", PLACES, recorder);
  await recorder.close();
  // The browser first: the index may not be whole before the page asks.
  const { page } = await open("about:blank");
  const impatient = await startServer({ data, rebuild: { behind_max: 0, wait_ms: 0, newest: 500 } });
  const isPartial: boolean[] = [];
  page.on("response", (response) => {
    if (!response.url().includes("/entries?")) return;
    // An answer that the page gave up, or that outlives it, has no body to read.
    response.json().then(
      ({ partial }) => isPartial.push(partial === true),
      () => undefined,
    );
  });
  await page.goto(`${impatient.address}/ui/sessions/long#${PLACES / 2}`);
  const here = page.locator(".line[data-here]", { hasText: `entry ${PLACES / 2 - 1} of long` });
  await here.waitFor();
  await expect.poll(() => isPartial).toContain(true);
  const top = await restingTopOf(page);
  // Everything before it is still to come, and may not move it.
  await page.locator('.map[data-whole="true"]').waitFor();
  expect(Math.abs((await restingTopOf(page)) - top)).toBeLessThan(3);
  expect(await page.locator(".line").count()).toBeLessThan(60);
  await page.keyboard.press("G");
  await page.getByText(`entry ${PLACES - 1} of long`).waitFor();
});

/** Where the line named by the address is, once it has been there for so many frames: lines are measured as they are drawn. */
function restingTopOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let last, frames = 0;
    const look = () => {
      const top = document.querySelector(".line[data-here]")?.getBoundingClientRect().top;
      frames = top !== undefined && top === last ? frames + 1 : 0;
      last = top;
      if (frames === 12) resolve(top);
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

async function fill(session_id: string, count: number, into = server().recorder): Promise<void> {
  const role = (at: number) => (at % 2 === 0 ? "user" : "assistant");
  for (let from = 0; from < count; from += 5_000) {
    const length = Math.min(5_000, count - from);
    const said = Array.from(
      { length },
      (_, at): EntryInput => ({
        kind: "message",
        session_id,
        role: role(at),
        content: `entry ${from + at} of ${session_id}`,
      }),
    );
    await into.append(said);
  }
}

test("a session of 5,000 messages opens at most three times as slowly as one of 50", async () => {
  await Promise.all([fill("fifty", 50), fill("many", 5_000)]);
  const { page } = await open(`${server().address}/ui/`);
  const openingMs = async (session: string): Promise<number> => {
    await page.goto(`${server().address}/ui/sessions/${session}`);
    await page.getByText(`entry 3 of ${session}`).waitFor();
    const openedMs = await page.evaluate<number>("performance.now()");
    // What is still to come of one may not slow down the other.
    await page.locator('.map[data-whole="true"]').waitFor();
    return openedMs;
  };
  // In turn, so what else the machine does slows down both, and the best of each, which it disturbed least.
  const few: number[] = [];
  const many: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    few.push(await openingMs("fifty"));
    many.push(await openingMs("many"));
  }
  expect(Math.min(...many)).toBeLessThan(3 * Math.min(...few));
});
