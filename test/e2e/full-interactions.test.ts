// Whole interactions in lists: on every surface, completed, masked, and in pages of a bounded size.
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

const SECRET = `sk-ant-api03-${"a1B2c3D4".repeat(11)}-AA`;

test("full lists interactions as get gives them, with responses that came later, and secrets masked", async () => {
  const server = await startServer();
  const { recorder, address } = server;
  await recorder.recordInteraction({ id: "a", prompt: "p", response: "whole", context_pack: { parts: ["x"] } });
  await recorder.recordInteraction({ id: "b", prompt: "q" });
  await recorder.completeInteraction("b", { response: `later ${SECRET}` });
  const { interactions } = await recorder.listInteractions({ full: true });
  expect(interactions[1]).toEqual(await recorder.getInteraction("a"));
  expect(interactions[0]).toMatchObject({
    id: "b",
    response: expect.stringMatching(/^later /),
    response_id: expect.any(String),
  });
  expect(JSON.stringify(interactions)).not.toContain(SECRET);
  for (const full of [false, "0", undefined]) {
    const [row] = (await recorder.listInteractions({ full } as object)).interactions;
    expect(row).toMatchObject({ response_chars: 6 + SECRET.length });
    expect(row).not.toHaveProperty("response");
  }
  expect((await server.get("/interactions?full=true")).body.interactions).toEqual(interactions);
  const remote = await openRecorder({ data: address });
  expect((await remote.listInteractions({ full: true, limit: 1 })).interactions).toEqual([interactions[0]]);
  await remote.close();
  expect((await server.get("/interactions?full=perhaps")).body.error).toMatchObject({ field: "full" });
});

test("hansard list --full --json prints that document, and a table is refused", async () => {
  const data = folderOfTest();
  await fillStore(data, [
    { kind: "interaction", id: "a", prompt: "p", response: "whole" },
    { kind: "error", error: "none of them" },
  ]);
  const { interactions } = await readJson(["list", "--full"], { data });
  expect(interactions).toMatchObject([{ id: "a", response: "whole", context_pack: {} }]);
  expect((await runCli(["list", "--full"], { data })).stderr).toContain("--full has no effect without --json");
  expect(await readError(["list", "--full", "--kind", "error"], { data })).toMatchObject({ field: "--full" });
});

test("a page of much text ends early, and the cursor reaches everything once", async () => {
  const { recorder } = memoryRecorder();
  const response = "r".repeat(6 * 1024 * 1024);
  for (const id of ["a", "b", "c", "d"]) {
    await recorder.recordInteraction({ id, prompt: id });
    await recorder.completeInteraction(id, { response });
  }
  const pages: string[][] = [];
  let cursor: string | null | undefined;
  do {
    const page = await recorder.listInteractions({ full: true, cursor });
    pages.push(page.interactions.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(pages).toEqual([
    ["d", "c"],
    ["b", "a"],
  ]);
});
