// A session as a page of its own: readable from a file, without a network or scripts, harmless, masked, bounded, and verifiable.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { fixturePath } from "../support/fixtures.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { serverOfFile, startServer } from "./http-client.js";
import { browserOfFile, overflowOf } from "./page-browser.js";

const open = browserOfFile();
const server = serverOfFile();
const folder = folderOfFile();
const data = join(folder, "record");
const shop = "9f0c7a52-1111-4222-8333-444455556666";
const secret =
  "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh-AbCdEfGhAA";
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

beforeAll(async () => {
  expect(
    (await runCli(["import", fixturePath("import", "claude-code", "shop", `${shop}.jsonl`)], { data })).status,
  ).toBe(0);
});

async function share(session: string, place = data): Promise<string> {
  const path = join(folderOfTest(), "page.html");
  const { status, stderr } = await runCli(["share", session, "--out", path], { data: place });
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Wrote /) });
  return path;
}

async function filled(entries: readonly object[]): Promise<string> {
  const place = join(folderOfTest(), "record");
  // One by one: some name an entry before them.
  for (const entry of entries) await fillStore(place, [entry as EntryInput]);
  return place;
}

const message = (role: string, content: unknown, more: object = {}) => ({
  kind: "message",
  session_id: "s",
  role,
  content,
  ...more,
});

describe("in a browser", () => {
  test.each([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["on a phone, without scripts", { viewport: { width: 390, height: 844 }, javaScriptEnabled: false }],
  ] as const)("it is read from a file: %s", async (_name, options) => {
    const { page, asked, problems } = await open(pathToFileURL(await share(shop)).href, options);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("The till that rounded down");
    expect(await page.locator("article.prompt").count()).toBeGreaterThan(2);
    await page.getByText("is the culprit").waitFor();
    // A call opens, and shows what came of it.
    const call = page.locator("details.row").first();
    await call.locator("summary").click();
    await call.locator("pre").last().waitFor();
    expect(await page.locator("article img").count()).toBe(1);
    expect(await page.getByText("What this page proves").isVisible()).toBe(true);
    expect(problems).toEqual([]);
    expect(asked.filter((address) => !/^(?:file|data):/.test(address))).toEqual([]);
    if (!("javaScriptEnabled" in options)) expect(await overflowOf(page)).toBe(0);
  });

  test("hostile text stays text, in every field, and its links lead nowhere but to the web", async () => {
    const script = `</script></style></title><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;
    const markdown = `[js](javascript:alert(1)) [data](data:text/html,x) ![i](http://127.0.0.1:9/x.png) <b onclick=x>b</b> [web](https://example.com/"onclick="x)`;
    const place = await filled([
      { kind: "session_info", session_id: "s", title: script },
      message("user", script, { project: script, id: "said" }),
      message("assistant", `${script}\n\n${markdown}`, {
        extra: { model: script, reasoning_content: script },
        tool_calls: [
          { id: "c1", type: "function", function: { name: script, arguments: JSON.stringify({ [script]: script }) } },
        ],
      }),
      {
        kind: "tool_call",
        session_id: "s",
        tool: script,
        args: { command: script, old_string: script, new_string: script },
        result: { [script]: script },
        is_error: true,
      },
      message("user", [
        { type: "image_url", image_url: { url: `data:image/png;base64,x" onerror="document.title='owned'` } },
      ]),
      message("user", [
        {
          type: "image",
          source: {
            type: "base64",
            media_type: "image/svg+xml",
            data: Buffer.from("<svg onload=alert(1)>").toString("base64"),
          },
        },
      ]),
      message("user", "reminder", { injected: "reminder" }),
      { kind: "error", session_id: "s", error: script, context: script },
      { kind: "decision", session_id: "s", decision: script, rationale: script },
      { kind: "consolidation", session_id: "s", through: 2, summary: script },
      { kind: "interaction", session_id: "s", prompt: script, response: script, error: script, model: script },
      { kind: "feedback", entry_id: "said", label: script, comment: "\u202eevil\u0000\ud800" },
    ]);
    const path = await share("s", place);
    const { page, asked, problems } = await open(pathToFileURL(path).href);
    expect(await page.title()).toContain("</script>");
    expect(
      await page.evaluate(
        "document.querySelectorAll('script:not([type=\"application/json\"]),b[onclick],[onerror],[onclick],svg,iframe,object,form').length",
      ),
    ).toBe(0);
    expect(await page.locator("article img").count()).toBe(0);
    const links = await page
      .locator("article a:not(.at)")
      .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
    expect(links.every((href) => href.startsWith("https://example.com/"))).toBe(true);
    expect({ asked: asked.length, problems }).toEqual({ asked: 1, problems: [] });
    expect(readFileSync(path, "utf8")).not.toMatch(/\p{Cc}(?<!\n)|\u202e|\p{Cs}/u);
    expect(await readJson(["verify", path], { data: place })).toMatchObject({ ok: true });
  });
});

describe("what is in it", () => {
  test("secrets are masked wherever they stand, also across a cut and in the title", async () => {
    const registered = "correct horse battery staple";
    const long = `${"x ".repeat(24_985)}${secret} and ${"y".repeat(200)}`;
    const place = await filled([
      { kind: "session_info", session_id: "s", title: `Use ${secret}` },
      message("user", `the key is ${secret}, the phrase ${registered}`),
      message("assistant", long, {
        extra: { reasoning_content: secret },
        tool_calls: [
          { id: "c", type: "function", function: { name: "run", arguments: JSON.stringify({ token: secret }) } },
        ],
      }),
      {
        kind: "tool_call",
        session_id: "s",
        tool: "Bash",
        args: { command: `curl -H 'x-api-key: ${secret}'`, password: "hunter2hunter2" },
        result: { output: secret, password: "hunter2hunter2" },
      },
      message("user", secret, { injected: "file" }),
    ]);
    const path = join(folderOfTest(), "page.html");
    const env = { HANSARD_MASK: registered };
    expect((await runCli(["share", "s", "--out", path], { data: place, env })).status).toBe(0);
    const text = readFileSync(path, "utf8");
    for (const hidden of [secret.slice(0, 40), registered, "hunter2hunter2"]) expect(text).not.toContain(hidden);
    expect(text).toContain("[masked:");
    // Verified where other values are masked, it says so instead of "changed".
    expect(await readJson(["verify", path], { data: place, env })).toMatchObject({ ok: true });
    const { status, stdout } = await runCli(["verify", path], { data: place });
    expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.stringContaining("masked in another way") });
  });

  test("50 MB of images and a result of 10 MB are a page of bounded size", async () => {
    const image = Buffer.concat([Buffer.from(pixel, "base64"), randomBytes(1_200_000)]).toString("base64");
    const block = { type: "image", source: { type: "base64", media_type: "image/png", data: image } };
    const place = await filled([]);
    for (let batch = 0; batch < 8; batch += 1)
      await fillStore(
        place,
        Array.from({ length: 4 }, () => message("user", [block]) as EntryInput),
      );
    await fillStore(place, [
      {
        kind: "tool_call",
        session_id: "s",
        tool: "Bash",
        args: { command: "cat big" },
        result: "word ".repeat(2_000_000),
      },
      message(
        "assistant",
        Array.from({ length: 2_000 }, (_, at) => ({ type: "text", text: `- part ${at}\n`.repeat(200) })),
      ) as EntryInput,
    ]);
    const path = await share("s", place);
    expect(statSync(path).size).toBeLessThan(12 * 1024 * 1024);
    const text = readFileSync(path, "utf8");
    expect(text.match(/<img /g)?.length).toBeGreaterThan(2);
    expect(text).toMatch(/\[image[^\]]*\]|image\/png/);
    expect(text).toContain("more characters are in the record");
  });

  test("calls without a result, messages that were taken back, answers that came later and compactions are told apart", async () => {
    const call = { id: "c1", type: "function", function: { name: "Bash", arguments: '{"command":"ls"}' } };
    const place = await filled([
      message("user", "/model opus"),
      message("user", "First words of a person"),
      message("assistant", "Wrong.", { tool_calls: [call] }),
      { kind: "withdrawal", session_id: "s", withdraws: 3 },
      { kind: "interaction", session_id: "s", id: "later", prompt: "Later?" },
      { kind: "response", interaction_id: "later", response: "Now." },
      { kind: "consolidation", session_id: "s", through: 3, summary: "All of it", tokens_before: 168_000 },
      { kind: "clear", session_id: "s" },
    ]);
    const text = readFileSync(await share("s", place), "utf8");
    expect(text).toContain('<h1 dir="auto">First words of a person</h1>');
    expect(text).toMatch(/withdrawn"><p class="label">Message removed from the context/);
    expect(text).toMatch(/<span class="what">ls<\/span><span class="how">no result/);
    expect(text).toMatch(/Compacted here: 168,000 tokens before/);
    expect(text).toContain("Context cleared");
    expect(text).not.toContain("No answer was recorded");
  });

  test("an existing file is kept, an unknown session is an error, and the audit log has an export", async () => {
    const path = await share(shop.slice(0, 8));
    expect(await readError(["share", shop, "--out", path], { data })).toMatchObject({ code: "file_exists" });
    expect((await runCli(["share", shop, "--out", path, "--force"], { data })).status).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readError(["share", "nobody", "--out", `${path}2`], { data })).toMatchObject({
      code: "session_not_found",
    });
    const { stdout } = await runCli(["list", "--kind", "audit", "--json"], { data });
    expect(stdout).toContain("as html");
  });
});

describe("verify", () => {
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const said = [
    message("user", "How many lanterns?"),
    message("assistant", "Three lanterns."),
    message("user", "Thanks."),
  ];

  async function verified(path: string, place: string) {
    const { status, stdout } = await runCli(["verify", path, "--json"], { data: place });
    return { status, ...JSON.parse(stdout) };
  }

  test("says what was compared, also after the session went on", async () => {
    const place = await filled(said);
    const path = await share("s", place);
    const whole = { status: 0, ok: true, session_id: "s", entries: 3, erased: 0, articles: 3 };
    expect(await verified(path, place)).toMatchObject({ ...whole, seal: { public_key: expect.any(String) } });
    await fillStore(place, [message("assistant", "You are welcome.") as EntryInput]);
    expect(await verified(path, place)).toMatchObject(whole);
    const { stdout } = await runCli(["verify", path], { data: place });
    expect(stdout).toMatch(/^ok: 3 entries have the hash that the page says\n/);
    expect(stdout).toContain("the text of 3 articles is what this store shows");
  });

  test("an entry that was forgotten since is named, and is no forgery", async () => {
    const place = await filled(said);
    const path = await share("s", place);
    expect((await runCli(["forget", "--entry", "2", "--reason", "test", "--yes"], { data: place })).status).toBe(0);
    expect(await verified(path, place)).toMatchObject({ status: 0, ok: true, entries: 3, erased: 1, articles: 2 });
  });

  test("every change of the page is found: words, head, end, order, and with all hashes of the page made to fit", async () => {
    const place = await filled(said);
    const path = await share("s", place);
    const text = readFileSync(path, "utf8");
    const articles = text.match(/<article .*?<\/article>\n/gs) ?? [];
    const [first = "", second = ""] = articles;
    const forged = second.replace("Three", "Four");
    const entry = JSON.stringify(JSON.parse(/id="hansard-share">(.*)<\/script>/.exec(text)?.[1] ?? "").entries[1]);
    const forgeries: readonly (readonly [string, string, object])[] = [
      ["words", text.replace(second, forged), { position: 2 }],
      ["words and their hash", text.replace(second, forged).replace(sha256(second), sha256(forged)), { position: 2 }],
      [
        "title",
        text
          .replace("<title>How many lanterns", "<title>How many lamps")
          .replace('<h1 dir="auto">How many lanterns', '<h1 dir="auto">How many lamps')
          .replace('"title":"How many lanterns?"', '"title":"How many lamps?"'),
        { position: 0 },
      ],
      ["head", text.replace("<main>", "<main><p>Also said.</p>"), { position: 0 }],
      ["end", text.replace("</footer>", "<p>Also proven.</p></footer>"), { position: 0 }],
      ["order", text.replace(first + second, second + first), { position: 1 }],
      ["left out", text.replace(second, ""), { position: 2 }],
      ["one more", text.replace(second, second + first), { position: 3 }],
      ["an entry's hash", text.replace(entry, entry.replace(/"hash":"../, '"hash":"00')), { position: 2 }],
      ["the seal", text.replace(/"signature":"../, '"signature":"00'), { position: expect.any(Number) }],
      ["cut off", text.slice(0, -20), { position: 0 }],
      ["data", text.replace('"hansard_share":1', '"hansard_share":"1"'), { position: 0 }],
    ];
    for (const [name, html, where] of forgeries) {
      expect({ name, isChanged: html !== text }).toEqual({ name, isChanged: true });
      const forgery = join(folderOfTest(), "forged.html");
      writeFileSync(forgery, html);
      expect({ name, ...(await verified(forgery, place)) }).toMatchObject({ name, status: 1, ok: false, ...where });
    }
  });

  test("a page of another store, and other HTML, are refused with a reason", async () => {
    const path = await share("s", await filled(said));
    expect(await verified(path, await filled(said))).toMatchObject({ ok: false, reason: "the page is of another log" });
    const other = join(folderOfTest(), "other.html");
    writeFileSync(other, "<!DOCTYPE html><p>hello");
    expect(await verified(other, data)).toMatchObject({ ok: false, reason: expect.stringContaining("hansard share") });
  });
});

describe("over HTTP", () => {
  test("GET /sessions/{id}/share is the page, with a policy that allows nothing", async () => {
    await server().post("/entries", [message("user", "Over the wire"), message("assistant", "Yes.")]);
    const response = await fetch(`${server().address}/sessions/s/share`);
    expect({ status: response.status, type: response.headers.get("content-type") }).toEqual({
      status: 200,
      type: "text/html; charset=utf-8",
    });
    expect(response.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toContain("Over the wire");
    const { page, problems } = await open(`${server().address}/sessions/s/share`);
    await page.getByText("Over the wire").first().waitFor();
    expect(problems).toEqual([]);
    for (const [address, status] of [
      ["/sessions/nobody/share", 404],
      ["/sessions/s/share?full=1", 400],
    ] as const) {
      expect((await fetch(server().address + address)).status).toBe(status);
    }
  });

  test("a server as a store gives the page too, and compares one", async () => {
    const { address } = await startServer({
      data: await filled([message("user", "Far away"), message("assistant", "Near.")]),
    });
    const path = join(folderOfTest(), "page.html");
    expect(await runCli(["share", "s", "--out", path], { data: address })).toMatchObject({ status: 0, stdout: "" });
    const { status, stdout } = await runCli(["verify", path, "--json"], { data: address });
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, ok: true, articles: 2 });
  });
});
