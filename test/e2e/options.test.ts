// Options that do not exist, wherever the library takes some: refused by name, with the one that was meant.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownOptions, notKnown } from "../../src/model/options.js";
import { openRecorder } from "../../src/recorder/open-recorder.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("openRecorder refuses a misspelt option, and opens nothing", async () => {
  const data = join(folderOfTest(), "record");
  await expect(openRecorder({ dta: data } as never)).rejects.toMatchObject({
    code: "parameter_unknown",
    field: "dta",
    message: 'unknown option "dta"',
    hint: expect.stringMatching(/^Did you mean data\? Options are data, key, index, /),
  });
  await expect(openRecorder({ data, rebuild: { waitMs: 5 } } as never)).rejects.toMatchObject({ field: "waitMs" });
  await expect(openRecorder(data as never)).rejects.toMatchObject({ code: "field_invalid", field: "options" });
  expect(existsSync(data)).toBe(false);
});

describe("every call that takes options refuses those that it does not know:", () => {
  const { recorder } = memoryRecorder();
  const session = recorder.session("s");
  const calls: { readonly [name: string]: (options: never) => unknown } = {
    listInteractions: (options) => recorder.listInteractions(options),
    listEntries: (options) => recorder.listEntries(options),
    listSessions: (options) => recorder.listSessions(options),
    search: (options) => recorder.search("x", options),
    sessionHistory: (options) => recorder.sessionHistory(options),
    reflect: (options) => recorder.reflect(options),
    tail: (options) => recorder.tail(options),
    exportEntries: (options) => recorder.exportEntries(options).next(),
    importFiles: (options) => recorder.importFiles([], options),
    verify: (options) => recorder.verify(options),
    retain: (options) => recorder.retain(options),
    scrub: (options) => recorder.scrub(options),
    forget: (options) => recorder.forget(options),
    rebuildIndex: (options) => recorder.rebuildIndex(options),
    session: (options) => recorder.session("s", options),
    history: (options) => session.history(options),
    entries: (options) => session.entries(options),
    consolidate: (options) => session.consolidate(1, options),
    "keys.create": (options) => recorder.keys.create(options),
    "keys.revoke": (options) => recorder.keys.revoke("k", options),
  };
  test.each(Object.keys(calls))("%s", async (name) => {
    const call = async (): Promise<unknown> => calls[name]?.({ nonsense: 1 } as never);
    await expect(call()).rejects.toMatchObject({ field: "nonsense", hint: expect.stringMatching(/ are [a-z_]+/) });
  });
});

test("the nearest option is suggested, ignoring case, and none if none is near", () => {
  const names = ["session_id", "max_messages", "format"];
  const hintFor = (name: string): string | undefined => notKnown("option", name, names).hint;
  expect(hintFor("sessionId")).toMatch(/^Did you mean session_id\? /);
  expect(hintFor("maxMessages")).toMatch(/^Did you mean max_messages\? /);
  expect(hintFor("FORMAT")).toMatch(/^Did you mean format\? /);
  expect(hintFor("colour")).toBe("Options are session_id, max_messages, format.");
  expect(notKnown("parameter", "x", []).hint).toBe("This call takes no parameters.");
  expect(notKnown("option", "x".repeat(1_000_000), names).field).toHaveLength(100);
});

test("nothing, and options that are all known, pass as they are", () => {
  const options = { a: undefined };
  expect(knownOptions(options, ["a"])).toBe(options);
  expect(knownOptions(undefined, ["a"])).toEqual({});
  expect(knownOptions(null, ["a"])).toEqual({});
});
