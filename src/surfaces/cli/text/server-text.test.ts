// The log of a server on a terminal: readable text that fits and contains no control sequences.
import pico from "picocolors";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { createLogger } from "../../http/logger.js";
import { logText } from "./server-text.js";
import type { Pane } from "./terminal.js";

function shown(columns: number, log: (logger: ReturnType<typeof createLogger>["logger"]) => void): string {
  const written: string[] = [];
  const pane: Pane = {
    isTerminal: true,
    columns,
    colours: pico.createColors(false),
    write: (text) => written.push(text),
  };
  const write = (line: string): void => pane.write(logText(line, pane).replace(/^\d\d:\d\d:\d\dZ/, "09:30:00Z"));
  log(createLogger({ level: "info", destination: { write } }).logger);
  return written.join("");
}

const refused = {
  request: "req-1",
  method: "GET",
  route: "/export",
  status: 403,
  code: "scope_insufficient",
  address: "10.0.0.7",
  key_id: "5f0c1e6a9b3d7284",
  ms: 1.2,
  bytes_in: 0,
  bytes_out: 180,
};

test("a refused request is one line with the caller and the reason", () => {
  expect(shown(120, (logger) => logger.warn(refused, "request"))).toBe(
    "09:30:00Z  GET /export 403 scope_insufficient, from 10.0.0.7, key 5f0c1e6a9b3d7284\n",
  );
});

test("it fits the terminal, hints are below, and stacks go only to files", () => {
  const text = shown(60, (logger) => {
    logger.error(
      { ...refused, error: "disk_full", message: "no\u001b[31m space", hint: "Make some.", stack: ["at x"] },
      "failure",
    );
  });
  expect(text.split("\n").filter((line) => stringWidth(line) > 60)).toEqual([]);
  expect(text.replace(/\s+/g, " ")).toContain("disk_full, no space →");
  expect(text).toContain("\n           → Make some.\n");
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("at x");
});
