// The page where the record has keys: a key that is given opens every part of it, and one that is taken away closes all.
import { expect, test } from "vitest";
import { startServer } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const open = browserOfFile();

const SAID = { kind: "message", session_id: "s", project: "atlas", role: "user", content: "behind the door" };
const door = { name: "Enter an access key" } as const;

test("a view that rests is closed once its key is revoked, and once the first key is made", async () => {
  const server = await startServer();
  await server.post("/entries", SAID);
  const { page } = await open(`${server.address}/ui/sessions`);
  const row = page.getByRole("link", { name: "behind the door" });
  await row.waitFor();
  const { keys } = server.recorder;
  const { id, key } = await keys.create({ scope: "read" });
  await page.getByRole("heading", door).waitFor();
  expect(await page.content()).not.toContain("behind the door");
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await row.waitFor();
  await keys.revoke(id);
  await page.getByRole("heading", door).waitFor();
  expect(await page.content()).not.toContain("behind the door");
});

test("filters complete themselves as soon as a key was given", async () => {
  const server = await startServer();
  await server.post("/entries", SAID);
  const { key } = await server.recorder.keys.create({ scope: "read" });
  const { page } = await open(`${server.address}/ui/entries`);
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".entry-line", { hasText: "behind the door" }).waitFor();
  await page.getByLabel("Search the record").fill("door project:a");
  await page.getByRole("option", { name: "project:atlas" }).waitFor();
});
