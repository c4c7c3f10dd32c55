// Proves that the browser of the tests is found, and that a wrong setting is not passed over.
import { existsSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { findChromium } from "../../scripts/chromium.mjs";

test("there is a browser", () => {
  expect(existsSync(findChromium())).toBe(true);
});

test("a setting that names no browser is an error, even if another one is installed", () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv("HANSARD_CHROMIUM", "no-such-browser");
  expect(() => findChromium()).toThrow("HANSARD_CHROMIUM names no-such-browser, which is not there.");
});
