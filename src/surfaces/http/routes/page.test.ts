// The page's addresses: its files by name, and the page itself at every other one, since views are its own.
import { gunzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryRecorder } from "../../../../test/support/memory-recorder.js";
import { createServer } from "../server.js";

async function get(url: string, headers: { readonly [name: string]: string } = {}) {
  const { recorder } = memoryRecorder();
  const app = createServer({ recorder, version: "1.2.3" });
  onTestFinished(() => app.close());
  const { statusCode, headers: answered, body } = await app.inject({ url, headers });
  return { status: statusCode, type: answered["content-type"], body };
}

const HTML = "text/html; charset=utf-8";

test.each([
  ["/ui/tokens.css", "text/css; charset=utf-8"],
  ["/ui/docs.css", "text/css; charset=utf-8"],
  ["/ui/theme.js", "text/javascript; charset=utf-8"],
  ["/ui/icon.svg", "image/svg+xml"],
])("%s is a file", async (address, type) => {
  const answer = await get(address);
  expect(answer).toMatchObject({ status: 200, type });
  expect(answer.body).not.toContain("<!doctype html>");
});

test.each(["/", "/ui", "/ui/", "/ui/sessions", "/ui/search?q=a.js", "/ui/sessions/v1.2", "/ui/sessions/a%2Fb%20c"])(
  "%s is the page",
  async (address) => {
    const answer = await get(address);
    expect(answer).toMatchObject({ status: 200, type: HTML });
    expect(answer.body).toContain('src="/ui/theme.js"');
  },
);

test.each(["/ui/missing.js", "/ui/missing.css", "/ui/missing.svg", "/ui/assets/missing.js", "/ui/theme.js/x.css"])(
  "%s is no file, and not the page either",
  async (address) => {
    const answer = await get(address);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body).error.code).toBe("route_not_found");
  },
);

test.each(["/tokens.css", "/theme.js", "/docs.css", "/icon.svg"])("%s is left to the API", async (address) => {
  expect((await get(address)).status).toBe(404);
});

describe("the view of something with the name of a file", () => {
  const opening = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("is the page if a browser opens it", async () => {
    expect(await get("/ui/sessions/worker.js", opening)).toMatchObject({ status: 200, type: HTML });
  });

  test("never replaces a file", async () => {
    expect(await get("/ui/theme.js", opening)).toMatchObject({ type: "text/javascript; charset=utf-8" });
  });
});

test("the script is cached permanently under the hash of its content, and compressed for clients that accept that", async () => {
  const [script = ""] = /\/ui\/assets\/[^"]+\.js/.exec((await get("/")).body) ?? [];
  const { recorder } = memoryRecorder();
  const app = createServer({ recorder, version: "1.2.3" });
  onTestFinished(() => app.close());
  const plain = await app.inject({ url: script });
  const packed = await app.inject({ url: script, headers: { "accept-encoding": "gzip" } });
  expect(packed.headers).toMatchObject({
    "content-encoding": "gzip",
    "cache-control": expect.stringContaining("immutable"),
  });
  expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(packed.rawPayload.length).toBeLessThan(150 * 1024);
});

test("the document needs no exceptions from its policy", async () => {
  const { body } = await get("/");
  expect(body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
});
