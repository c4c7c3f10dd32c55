// The help of every command, laid out for an unknown width.
import { afterEach, expect, test, vi } from "vitest";
import { run } from "./program.js";

afterEach(() => {
  vi.restoreAllMocks();
});

async function helpOf(...args: readonly string[]): Promise<string> {
  let text = "";
  // Each run adds listeners for broken streams, which live as long as the process.
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, "on").mockReturnThis();
  vi.spyOn(process.stdout, "write").mockImplementation((piece) => {
    text += piece;
    return true;
  });
  expect(await run([...args, "--help"])).toBe(0);
  return text;
}

test("no help is wider than 80 columns, including its text and examples", async () => {
  const all = await helpOf();
  const names = [...all.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const text = await helpOf(name);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
});
