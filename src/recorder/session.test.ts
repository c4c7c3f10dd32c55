// A session with its own labels, and interactions recorded in it.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../test/support/memory-recorder.js";

test("labels of a session apply to everything recorded through it, unless an entry has its own", async () => {
  const { recorder } = memoryRecorder();
  const session = recorder.session("s", { project: "atlas", client: "agent" });
  const interaction = await session.interaction({ id: "i", prompt: "q", response: "a" });
  expect(interaction).toMatchObject({ session_id: "s", project: "atlas", client: "agent", response: "a" });
  await session.message({ role: "user", content: "q" });
  await session.message({ role: "assistant", content: "a", client: "other", project: null });
  await session.toolCall({ tool: "t" });
  await session.error({ error: "e" });
  await session.decision({ decision: "d" });
  await session.info({ title: "t" });
  await session.consolidate(3);
  await session.withdraw(2);
  await session.clear();
  const { entries } = await session.entries();
  expect(entries).toHaveLength(10);
  const others = entries.filter(({ project, client }) => project !== "atlas" || client !== "agent");
  expect(others).toMatchObject([{ position: 3, project: "atlas", client: "other" }]);
  expect(await session.summary()).toMatchObject({ projects: ["atlas"], clients: ["agent", "other"] });
});

test("invalid labels are refused before anything is recorded", () => {
  const { recorder } = memoryRecorder();
  expect(() => recorder.session("s", { project: "-" })).toThrow(expect.objectContaining({ code: "label_invalid" }));
  expect(() => recorder.session("s", { client: "a\u0000" })).toThrow(expect.objectContaining({ field: "client" }));
});

test("receipts of a session name fields that a kind does not have", async () => {
  const session = memoryRecorder().recorder.session("s");
  const receipt = await session.message({ role: "user", content: "q", confidance: 1 } as never);
  expect(receipt.unknown_fields).toEqual(["confidance"]);
  expect(await session.message({ role: "user", content: "q" })).not.toHaveProperty("unknown_fields");
});

test.each([
  ["a text", "boom"],
  ["an Error", new Error("boom")],
  ["a list", ["boom"]],
])("%s in place of fields is refused with the required field", async (_, given) => {
  const session = memoryRecorder().recorder.session("s");
  await expect(session.error(given as never)).rejects.toMatchObject({
    code: "field_invalid",
    field: "entry",
    hint: expect.stringContaining('{ error: "…" }'),
  });
  expect(await session.summary()).toBeUndefined();
});
