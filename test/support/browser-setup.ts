// Vitest's global set-up: one browser for all tests of the page, started by the first file that asks for it.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";
import { serveChromium } from "../../scripts/chromium.mjs";

declare module "vitest" {
  export interface ProvidedContext {
    /** Answers a request with the address of the browser, or with why there is none. */
    readonly browserAddress: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined;
  const server = createServer((_, response) => {
    browser ??= serveChromium();
    browser.then(
      (started) => response.end(started.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  project.provide("browserAddress", `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return async () => {
    server.close();
    await (await browser?.catch(() => undefined))?.close();
  };
}
