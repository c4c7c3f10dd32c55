// What a session was given, asked by several at once.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";
import type { Entry } from "../../model/entry.js";
import { noMask } from "../../model/mask.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import { spokenIn } from "../text/quoted-entry.js";
import { GivenItems, givenItemsIn } from "./session-given.js";

test("two concurrent readers of a session get each given memory once, and so does a later one", async () => {
  const { recorder, log, index } = memoryRecorder();
  for (let nth = 1; nth <= 5; nth += 1) {
    await recorder.append({ kind: "interaction", session_id: "s", prompt: "p", context_pack: { rule: `rule ${nth}` } });
  }
  await recorder.session("s").history();
  const gifts = new GivenItems({ index, entries: new EntryReader({ log, mask: noMask }) });
  const through = async (position: number) => (await gifts.through("s", position)).map(({ text }) => text);
  const all = ["rule 1", "rule 2", "rule 3", "rule 4", "rule 5"];
  expect(await Promise.all([through(5), through(3), through(4)])).toEqual([all, all.slice(0, 3), all.slice(0, 4)]);
  expect(await through(5)).toEqual(all);
});

test("what a program injected was given from then on, and nobody said it", () => {
  const message = { kind: "message", position: 1, role: "user", content: "Wear a veil." } as const;
  const given = { position: 1, from: "injected", text: "Wear a veil.", ids: [], isRecalled: true };
  expect(givenItemsIn({ ...message, injected: "file" } as unknown as Entry)).toEqual([given]);
  expect(givenItemsIn({ ...message, injected: "" } as unknown as Entry)).toEqual([]);
  expect(spokenIn({ ...message, injected: "file" } as unknown as Entry)).toEqual([]);
});
