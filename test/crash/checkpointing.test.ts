// The checkpoint thread is a convenience: its failure does not block closing the store.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";

test("closing does not wait for a dead checkpoint thread", () => {
  const program = fileURLToPath(new URL("./close-after-failure.js", import.meta.url));
  const { stdout, signal } = spawnSync(process.execPath, [program, folderOfTest()], {
    encoding: "utf8",
    timeout: 30_000,
  });
  expect({ stdout, signal }).toEqual({ stdout: "closed", signal: null });
});
