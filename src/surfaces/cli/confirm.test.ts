// Confirmation prompts: only a yes counts, and no program waits for ever.
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { confirm } from "./command.js";

test("only a yes agrees; end of input declines, and is not a bug", async () => {
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
