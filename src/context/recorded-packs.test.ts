// Which recorded contexts held a phrase: the same from a table that is kept and grows, and by looking through all of them.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import { noMask } from "../model/mask.js";
import { SentRequests } from "../search/sent-requests.js";
import { RecordedPacks } from "./recorded-packs.js";

test("a table that grows, one built again and no table agree, also after something was forgotten", async () => {
  const { recorder, log, index } = memoryRecorder();
  const parts = { log, index, mask: noMask };
  const kept = new RecordedPacks(parts, new SentRequests(parts));
  const phrases = ["rule a", "rule b", "a", "rule", "nobody"];
  /** Each is in some of the packs: A until it is taken out and again later, B in one, and a text of its own in each. */
  const record = async (nth: number): Promise<void> => {
    const texts = [...(nth % 7 < 4 ? ["Rule A"] : []), ...(nth === 5 ? ["Rule B", "Rule B"] : []), `own ${nth}`];
    const context_pack = { messages: texts.map((content) => ({ role: "user", content })) };
    await recorder.append({ kind: "interaction", id: `i${nth}`, session_id: "s", prompt: "p", context_pack });
    await recorder.append({ kind: "message", session_id: "s", role: "user", content: "between" });
  };
  const compare = async (): Promise<void> => {
    const { position } = await log.head();
    await recorder.session("s").history();
    const rebuilt = new RecordedPacks(parts, new SentRequests(parts));
    const without = new RecordedPacks(parts, new SentRequests(parts), 0);
    for (const phrase of [...phrases, "own 3"]) {
      for (let before = 1; before <= position + 1; before += 1) {
        const request = { session_id: "s", before, phrase };
        const uses = await without.uses(request);
        expect([phrase, before, await kept.uses(request)]).toEqual([phrase, before, uses]);
        expect([phrase, before, await rebuilt.uses(request)]).toEqual([phrase, before, uses]);
      }
    }
  };
  for (let nth = 0; nth < 9; nth += 1) await record(nth);
  await compare();
  expect(await kept.uses({ session_id: "s", before: 99, phrase: "rule b" })).toEqual({ first: 11, last: 11 });
  for (let nth = 9; nth < 16; nth += 1) await record(nth);
  await compare();
  await recorder.forget({ entry: "i5", reason: "asked" });
  await compare();
  expect(await kept.uses({ session_id: "s", before: 99, phrase: "rule b" })).toBeUndefined();
  expect(await kept.uses({ session_id: "", before: 99, phrase: "rule" })).toBeUndefined();
});
