// What a newcomer asks, answered in the page alone: from the first screen, with every click and every text typed counted.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { loadDemo } from "../../src/recorder/demo.js";
import { serverOfFile } from "./http-client.js";
import { browserOfFile } from "./page-browser.js";

const server = serverOfFile();
const open = browserOfFile();

beforeAll(() => loadDemo(server().recorder, Date.now()));

/** Somebody at the page who does nothing but click and type. */
async function newcomer(): Promise<Newcomer> {
  const { page } = await open(`${server().address}/`);
  await page.locator(".day-rows li").first().waitFor();
  return new Newcomer(page);
}

class Newcomer {
  readonly #page: Page;
  steps = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  async click(role: "link" | "button", name: string | RegExp): Promise<void> {
    this.steps += 1;
    await this.#page.getByRole(role, { name }).first().click();
  }

  async choose(label: string, value: string): Promise<void> {
    this.steps += 1;
    await this.#page.getByLabel(label).selectOption(value);
  }

  /** A click into the box, and the words. */
  async search(words: string): Promise<void> {
    this.steps += 2;
    const box = this.#page.getByLabel("Search the record");
    await box.click();
    await box.pressSequentially(words);
  }

  async reads(...texts: readonly string[]): Promise<void> {
    for (const text of texts) await this.#page.getByText(text).first().waitFor();
  }
}

test("why did this run fail? Two steps to the errors, one more to what the tool said", async () => {
  const reader = await newcomer();
  await reader.click("link", "Sessions");
  await reader.click("link", "Deploy of the rounding fix fails twice");
  await reader.reads("deploy failed: Unauthorized", "migration 0042_rounding is locked by another run (pid 881)");
  await reader.reads("The staging token has expired.", "It is dead, I checked.");
  await reader.click("button", /make deploy ENV=staging/);
  await reader.reads("You must be logged in to the server");
  expect(reader.steps).toBeLessThanOrEqual(3);
});

test("when did we decide that, and what followed? Three steps to the decision in its place", async () => {
  const reader = await newcomer();
  await reader.search("banker's rounding");
  await reader.click("link", /decision.*Use banker's rounding/i);
  await reader.reads("because the ledger does the same", "Fixed: the totals agree with the ledger now");
  expect(reader.steps).toBeLessThanOrEqual(3);
});

test("which memories does this agent use, and are they true? Three steps to those, one more to what followed", async () => {
  const reader = await newcomer();
  await reader.click("link", /^Memory/);
  await reader.click("link", "Active");
  await reader.reads("given", "used", "confirmed");
  await reader.choose("used by", "support-chat");
  await reader.click("link", "The ledger always wins over the invoice");
  await reader.reads("remember that the ledger always wins over the invoice", "Given 2 times, used 1 time");
  await reader.reads("given, used in “Questions from accountants”", "no errors followed", "And a credit note?");
  expect(reader.steps).toBeLessThanOrEqual(4);
});
