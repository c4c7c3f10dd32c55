// Questions before something is done: only a yes is one, and nobody is left waiting.
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { confirm } from "./command.js";

test("only a yes agrees; ending the question declines and is no defect", async () => {
  const typed = {
    "y\r": true,
    " YES \r": true,
    "n\r": false,
    "\r": false,
    "yep\r": false,
    "\u0003": false,
    "\u0004": false,
  };
  for (const [keys, isYes] of Object.entries(typed)) {
    const input = new PassThrough();
    const answer = confirm("Read them? [y/N] ", { input, output: new PassThrough() });
    input.write(keys);
    expect([keys, await answer]).toEqual([keys, isYes]);
  }
});
