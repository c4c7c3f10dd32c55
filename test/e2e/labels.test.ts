// Users, tags and the entry that something was made for: on every way in, and as filters on every way out.
import { expect, onTestFinished, test } from "vitest";
import { connectRecorder } from "../../client/index.js";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

const labels = { user_id: "anna", tags: ["nightly", "long"], parent_id: "step-1" } as const;
const labelled = { ...labels, tags: [...labels.tags] };

async function openMemory(): Promise<Recorder> {
  const recorder = await openRecorder({ data: "memory:" });
  onTestFinished(() => recorder.close());
  return recorder;
}

test("the library: given with an entry, with a session, or for everything within a function and its awaits", async () => {
  const recorder = await openMemory();
  await recorder.append({ kind: "message", session_id: "a", role: "user", content: "hello", ...labels });
  await recorder.session("b", labels).toolCall({ tool: "ls" });
  await recorder.within({ session_id: "c", ...labels }, async () => {
    await new Promise(setImmediate);
    await recorder.recordInteraction({ prompt: "hello" });
    // What an entry brings itself comes first.
    await recorder.append({ kind: "error", error: "broken", user_id: "ben" });
  });
  const { entries } = await recorder.listEntries({ user_id: "anna" });
  expect(entries.map(({ session_id }) => session_id)).toEqual(["c", "b", "a"]);
  for (const entry of entries) expect(entry).toMatchObject(labelled);
  expect((await recorder.listEntries({ tag: "nightly", kind: "error" })).entries).toMatchObject([{ user_id: "ben" }]);
  expect((await recorder.listEntries({ parent_id: "step-1" })).entries).toHaveLength(4);
  expect((await recorder.search("hello user_id:anna tag:long")).results).toHaveLength(2);
  expect((await recorder.search("hello user_id:ben")).results).toEqual([]);
});

test("a response and feedback have those of the entry that they are about", async () => {
  const recorder = await openMemory();
  const { id } = await recorder.recordInteraction({ prompt: "hello", ...labels });
  const { response_id } = await recorder.completeInteraction(id, { response: "hi" });
  const { id: feedback } = await recorder.feedback({ entry_id: id, score: 1 });
  const { parent_id: _, ...inherited } = labelled;
  for (const one of [response_id as string, feedback]) {
    expect(await recorder.getEntry(one)).toMatchObject({ ...inherited, parent_id: "" });
  }
});

test("the client, HTTP and the command line", async () => {
  const server = await startServer();
  const client = connectRecorder({ url: server.address, spool: folderOfTest(), user_id: "anna", tags: labels.tags });
  await client.session("s", { parent_id: "step-1" }).toolCall({ tool: "ls" });
  await client.within(labels, () => client.recordInteraction({ prompt: "hello", session_id: "s" }));
  await client.close();
  await server.post("/entries", { kind: "error", error: "broken", ...labels });
  const { body } = await server.get("/entries?user_id=anna&tag=long&parent_id=step-1");
  expect(body.entries).toMatchObject([labelled, labelled, labelled]);
  const data = folderOfTest();
  const flags = ["--user", "anna", "--tag", "nightly", "--tag", "long", "--parent-id", "step-1"];
  await runCli(["record", "--data", data, "--prompt", "hello", ...flags]);
  await runCli(["record", "--data", data, "--prompt", "nobody's"]);
  const { stdout } = await runCli(["list", "--data", data, "--user", "anna", "--tag", "long", "--json"]);
  expect(JSON.parse(stdout).entries ?? JSON.parse(stdout).interactions).toMatchObject([labelled]);
});

test.each([
  ["user_id", "a\nb", "label_invalid"],
  ["user_id", "-", "label_invalid"],
  ["user_id", "x".repeat(257), "label_invalid"],
  ["tags", "nightly", "label_invalid"],
  ["tags", ["x".repeat(65)], "label_invalid"],
  ["tags", ["-"], "label_invalid"],
  ["tags", [""], "label_invalid"],
  ["tags", [7], "label_invalid"],
  ["tags", Array.from({ length: 21 }, (_, nth) => String(nth)), "label_invalid"],
  ["parent_id", "a b", "id_invalid"],
  ["parent_id", 7, "id_invalid"],
])("%s %j is refused", async (field, value, code) => {
  const recorder = await openMemory();
  const entry = { kind: "error", error: "e", [field]: value } as unknown as EntryInput;
  await expect(recorder.append(entry)).rejects.toMatchObject({ code, field });
});

test("a tag counts once, and what is empty was not given", async () => {
  const recorder = await openMemory();
  const given = { kind: "error", id: "e", error: "e", user_id: "", parent_id: "", tags: ["a", "b", "a"] } as const;
  await recorder.append(given);
  expect(await recorder.getEntry("e")).toMatchObject({ user_id: "", parent_id: "", tags: ["a", "b"] });
  expect((await recorder.append({ ...given, tags: ["a", "b"] })).status).toBe("already_recorded");
  await expect(recorder.append({ ...given, tags: ["b"] })).rejects.toMatchObject({ code: "id_conflict" });
});
