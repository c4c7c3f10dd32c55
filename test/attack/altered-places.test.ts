// Claims that lead to the wrong entry, and entries whose session is unknown.
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { engines } from "./intruder.js";

const corrupt = { code: "entry_corrupt" };

async function open(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

async function recorded(data: string, entries: readonly object[]): Promise<void> {
  const recorder = await openRecorder({ data });
  for (const entry of entries) await recorder.append(entry as never);
  // So that all of them are indexed before anything is altered.
  await recorder.listEntries();
  await recorder.close();
}

const message = (session_id: string, content: string, more: object = {}): object => ({
  kind: "message",
  role: "user",
  session_id,
  content,
  ...more,
});

describe.each(engines)("on $engine", ({ intrude }) => {
  test("a response that answers another interaction is a fault, and altered in lists", async () => {
    const { data, log, editLog } = await intrude();
    await recorded(data, [
      { kind: "interaction", id: "i1", session_id: "s", prompt: "May I?" },
      { kind: "interaction", id: "i2", session_id: "s", prompt: "Must I?" },
      { kind: "response", interaction_id: "i1", response: "No, never." },
      { kind: "response", interaction_id: "i2", response: "Yes, always." },
    ]);
    // Each of the two has two claims, its id's and its interaction's; both are swapped.
    await editLog(`UPDATE ${log("claims")} SET position = 7 - position WHERE position IN (3, 4)`);
    const recorder = await open(data);
    await expect(recorder.getInteraction("i1")).rejects.toMatchObject(corrupt);
    await expect(recorder.getInteraction("i2")).rejects.toMatchObject(corrupt);
    await expect(recorder.session("s").history()).rejects.toMatchObject(corrupt);
    for (const full of [false, true]) {
      const { interactions } = await recorder.listInteractions({ full });
      expect(interactions).toHaveLength(2);
      for (const row of interactions) expect(row).toMatchObject({ altered: true });
      expect(JSON.stringify(interactions)).not.toMatch(/never|always/);
    }
    const lines: string[] = [];
    const exported = async (): Promise<void> => {
      for await (const line of recorder.exportEntries({ format: "nanobot", session_id: "s" })) lines.push(line);
    };
    await expect(exported()).rejects.toMatchObject(corrupt);
    expect(lines.join("")).not.toMatch(/never|always/);
  });

  test("an altered entry without a row makes every history that may contain it a fault, until it is forgotten", async () => {
    const { data, log, editLog } = await intrude();
    await recorded(data, [
      message("s", "Never delete anything.", { role: "system" }),
      message("s", "May I delete it?"),
      message("t", "Hello"),
      { kind: "clear", session_id: "t" },
      { kind: "tool_call", id: "ran", session_id: "u", tool: "ls", tool_call_id: "c" },
      message("t", "Again"),
    ]);
    const alter = (position: number): Promise<void> =>
      editLog(
        `UPDATE ${log("bodies")} SET body = (SELECT body FROM ${log("bodies")} WHERE position = 2) WHERE position = ${position}`,
      );
    await alter(5);
    const recorder = await open(data);
    // It was indexed before, so everybody knows whose it is.
    expect(await recorder.session("s").history()).toHaveLength(2);
    await recorder.rebuildIndex();
    await expect(recorder.session("s").history()).rejects.toMatchObject(corrupt);
    await recorder.session("t").clear();
    // No call from before a clear is part of a history.
    expect(await recorder.session("t").history()).toEqual([]);
    await alter(1);
    expect(await recorder.session("t").history()).toEqual([]);
    await recorder.rebuildIndex();
    // A system message stays in front whatever was cleared, and may be a session's first entry.
    for (const id of ["s", "t", "new"]) await expect(recorder.session(id).history()).rejects.toMatchObject(corrupt);
    for (const position of [1, 5]) await recorder.forget({ entry: position, reason: "altered" });
    expect(await recorder.session("s").history()).toEqual([{ role: "user", content: "May I delete it?" }]);
    expect(await recorder.session("new").history()).toEqual([]);
  });
});
