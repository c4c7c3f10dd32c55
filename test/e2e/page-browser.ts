// A real browser for tests of the page: one for the run, a tab for a test, and what went wrong in it.
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, inject, onTestFinished } from "vitest";

export interface OpenPage {
  readonly page: Page;
  /** Every address that was asked. */
  readonly asked: readonly string[];
  /** What the console called an error, and what was thrown. */
  readonly problems: readonly string[];
}

/** Called outside of tests; the answer opens an address in a tab that ends with the test. */
export function browserOfFile(): (address: string, options?: BrowserContextOptions) => Promise<OpenPage> {
  let browser: Browser;
  beforeAll(async () => {
    const response = await fetch(inject("browserAddress"));
    if (!response.ok) throw new Error(await response.text());
    browser = await chromium.connect(await response.text());
  });
  // This ends the connection with its tabs, and not the browser.
  afterAll(() => browser?.close());
  return async (address, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const asked: string[] = [];
    const problems: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(address);
    return { page, asked, problems };
  };
}

/** By how much the page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
