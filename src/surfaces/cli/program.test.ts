// The help of every command, as it is laid out where nobody says how wide it may be.
import { afterEach, expect, test, vi } from "vitest";
import { run } from "./program.js";

afterEach(() => {
  vi.restoreAllMocks();
});

async function helpOf(...args: readonly string[]): Promise<string> {
  let text = "";
  // Each run listens for what breaks its streams, as long as the process lives.
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, "on").mockReturnThis();
  vi.spyOn(process.stdout, "write").mockImplementation((piece) => {
    text += piece;
    return true;
  });
  expect(await run([...args, "--help"])).toBe(0);
  return text;
}

test("no help is wider than 80 columns, its prose and its examples included", async () => {
  const all = await helpOf();
  const names = [...all.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const text = await helpOf(name);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
});
