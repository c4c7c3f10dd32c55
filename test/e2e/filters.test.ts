// Every filter of every question selects what it says, whichever way the question is answered.
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import type { Entry } from "../../src/model/entry.js";
import { conversationKinds } from "../../src/model/kinds.js";
import { type AskedName, askedNames, filtersOf } from "../support/asked.js";
import { filterValues } from "../support/filter-values.js";
import { storeOfFile, storeOfTest } from "../support/store.js";

type Options = { readonly [name: string]: string };

const store = storeOfFile();
let recorder: Recorder;
let entries: readonly Entry[] = [];

beforeAll(async () => {
  recorder = await openRecorder({ data: await store() });
  await recorder.append(sample());
  const { entries: listed } = await recorder.listEntries({ limit: 500 });
  entries = await Promise.all(listed.map(async ({ id }) => (await recorder.getEntry(id)) as Entry));
  return () => recorder.close();
});

/** Entries of several kinds with every combination of labels and times; all of them say the same word. */
function sample(): readonly EntryInput[] {
  return ["web", ""].flatMap((project) =>
    ["s:1", "S:1"].flatMap((session_id) =>
      ["cli", ""].flatMap((client) =>
        ["2026-01-02", "2026-01-03T12:00", "2026-01-04"].flatMap((created_at): readonly EntryInput[] => {
          const made = client === "" ? { user_id: "anna", parent_id: "step-1" } : { tags: ["nightly", "long"] };
          const envelope = { project, session_id, client, created_at, ...made };
          return [
            { ...envelope, kind: "interaction", prompt: "word", memories_used: ["m1"], chunks_used: ["c2"] },
            { ...envelope, kind: "interaction", prompt: "word", memories_used: ["m2"], chunks_used: ["c1", "c2"] },
            { ...envelope, kind: "message", role: "user", content: "word" },
            { ...envelope, kind: "message", role: "timmy", content: "word" },
            { ...envelope, kind: "error", error: "word" },
            { ...envelope, kind: "tool_call", tool: "bash", args: { file_path: "src/money.ts" }, result: "word" },
            { ...envelope, kind: "tool_call", tool: "grep", result: "word", is_error: true },
            {
              ...envelope,
              kind: "interaction",
              prompt: "word",
              response: "word of a call that no message repeats",
              model: "big-model",
              usage: { input_tokens: 1 },
              // A text counts once in its session, so each has one of its own.
              context_pack: { messages: [{ role: "user", content: `word ${Object.values(envelope).join(" ")}` }] },
            },
            { ...envelope, kind: "message", role: "assistant", content: "word", extra: { model: "big-model" } },
            {
              ...envelope,
              kind: "message",
              role: "assistant",
              content: "word",
              extra: { usage: { output_tokens: 1 } },
            },
          ];
        }),
      ),
    ),
  );
}

function isCounted(entry: Entry): boolean {
  return Object.keys((entry.kind === "interaction" ? entry.usage : entry.extra.usage) ?? {}).length > 0;
}

/** Each question asked with filters, and what of the entries it should have answered with. */
const asking: {
  readonly [Q in AskedName]?: {
    readonly answer: (options: Options) => Promise<unknown>;
    readonly expected: (selected: readonly Entry[]) => unknown;
  };
} = {
  listInteractions: {
    answer: async (options) => idsOf((await recorder.listInteractions({ limit: 500, ...options })).interactions),
    expected: (selected) => idsOf(selected.filter(({ kind }) => kind === "interaction")),
  },
  listEntries: {
    answer: async (options) => idsOf((await recorder.listEntries({ limit: 500, ...options })).entries),
    expected: idsOf,
  },
  listSessions: {
    answer: async (options) =>
      (await recorder.listSessions(options)).sessions.map(({ session_id }) => session_id).toSorted(),
    expected: (selected) => [...new Set(selected.map(({ session_id }) => session_id))].toSorted(),
  },
  files: {
    answer: async (options) => (await recorder.files(options)).files.map(({ path }) => path),
    expected: (selected) =>
      selected.some((entry) => entry.kind === "tool_call" && entry.tool === "bash") ? ["src/money.ts"] : [],
  },
  search: {
    answer: async (options) => idsOf((await recorder.search("word", { limit: 500, ...options })).results),
    expected: idsOf,
  },
  sessionHistory: {
    answer: async (options) =>
      (await recorder.sessionHistory({ query: "word", limit: 500, ...options })).split("\n").length - 1,
    expected: (selected) => selected.length,
  },
  reflect: {
    answer: async (options) => (await recorder.reflect({ limit: 500, ...options })).reviewed,
    expected: (selected) =>
      selected.filter(({ kind }) => (conversationKinds as readonly string[]).includes(kind)).length,
  },
  usage: {
    answer: async (options) => (await recorder.usage(options)).total.calls,
    expected: (selected) => selected.filter((entry) => isCounted(entry)).length,
  },
  tail: {
    answer: async (options) => {
      const tail = recorder.tail({ after: 0, ...options });
      const found: Entry[] = [];
      const wanted = entries.filter((entry) => Object.keys(options).every((name) => selects(name, entry))).length;
      while (found.length < wanted) found.push((await tail.next()).value as Entry);
      await tail.return();
      return idsOf(found);
    },
    expected: idsOf,
  },
  export: {
    answer: async (options) => {
      const lines: string[] = [];
      for await (const line of recorder.exportEntries(options)) lines.push(line);
      // The exports before this one were written down.
      return idsOf(lines.map((line) => JSON.parse(line) as Entry).filter(({ id, kind }) => id && kind !== "audit"));
    },
    expected: idsOf,
  },
};

test("every question that takes filters is asked here", () => {
  const filtered = askedNames.filter((question) => filtersOf(question).length > 0);
  expect(Object.keys(asking).toSorted()).toEqual(filtered.toSorted());
});

describe.each(Object.entries(asking))("%s", (question, { answer, expected }) => {
  const names = filtersOf(question as AskedName);

  test.each(names.map((name) => [name]))("by %s", async (name) => {
    const selected = entries.filter((entry) => filterValues[name].selects(entry));
    expect(selected.length).toBeGreaterThan(0);
    expect(selected.length).toBeLessThan(entries.length);
    expect(await answer({ [name]: filterValues[name].good })).toEqual(expected(selected));
  });

  test("by all of its labels and times together", async () => {
    // A session's file is known by when it was touched last, and here it was touched after every `until`.
    const others = question === "files" ? ["since", "until"] : [];
    const chosen = names.filter(
      (name) => !["kind", "role", "tool", "model", "is", "in", "memory", "chunk", ...others].includes(name),
    );
    const selected = entries.filter((entry) => chosen.every((name) => filterValues[name].selects(entry)));
    const options = Object.fromEntries(chosen.map((name) => [name, filterValues[name].good]));
    expect(selected.length).toBeGreaterThan(0);
    expect(await answer(options)).toEqual(expected(selected));
  });
});

test("several values are separated by commas, wherever these filters are", async () => {
  const { data } = await apart();
  const usage = { input_tokens: 1 };
  const call = (tool: string, project: string) => ({ kind: "tool_call", tool, project, result: "word" }) as const;
  await data.append([
    { kind: "interaction", session_id: "1", prompt: "word", project: "a", client: "x", model: "m1", usage },
    { kind: "interaction", session_id: "2", prompt: "word", project: "b", client: "y", model: "m2", usage },
    { kind: "interaction", session_id: "3", prompt: "word", model: "m3", usage },
    { ...call("bash", "a"), args: { file_path: "a.ts" }, session_id: "1" },
    { ...call("grep", "b"), args: { file_path: "b.ts" }, session_id: "2" },
    { ...call("a,b", "a,b"), session_id: "4" },
  ]);
  const positions = async (options: Options) => (await data.listEntries(options)).entries.map((one) => one.position);
  const found = async (q: string) => (await data.search(q)).results.map(({ position }) => position);
  const cases: readonly (readonly [name: string, value: string, expected: readonly number[]])[] = [
    ["project", "a, b", [5, 4, 2, 1]],
    ["project", "b,-", [5, 3, 2]],
    ["project", "a,b,", [5, 4, 2, 1]],
    ["client", "x,y,z", [2, 1]],
    ["model", "m1,m3", [3, 1]],
    ["tool", "bash,grep", [5, 4]],
    ["kind", "tool_call,error", [6, 5, 4]],
  ];
  for (const [name, value, expected] of cases) {
    expect(await positions({ [name]: value }), `${name} ${value}`).toEqual(expected);
    expect(await found(`word ${name}:"${value}"`), `${name} ${value}`).toEqual(expected);
    const paged: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<Recorder["listEntries"]>> = await data.listEntries({
        [name]: value,
        limit: 1,
        cursor,
      });
      paged.push(...page.entries.map((one) => one.position));
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(expected);
  }
  // A name that has a comma itself is found as a whole.
  expect(await positions({ tool: "a,b" })).toEqual([6]);
  expect(await positions({ project: "a,b" })).toEqual([6, 5, 4, 2, 1]);
  expect(await found("project:a,b project:b,c")).toEqual([5, 2]);
  expect(await found("project:a,b model:m2,m3 tool:bash")).toEqual([]);
  const sessions = async (options: Options) =>
    (await data.listSessions(options)).sessions.map(({ session_id }) => session_id).toSorted();
  expect(await sessions({ project: "a,b" })).toEqual(["1", "2", "4"]);
  expect(await sessions({ client: "y,x" })).toEqual(["1", "2"]);
  expect((await data.files({ project: "a,c" })).files.map(({ path }) => path)).toEqual(["a.ts"]);
  expect((await data.files({ project: "b,c" })).files).toEqual([]);
  expect((await data.usage({ project: "a,-", client: "x,-" })).total.calls).toBe(2);
  expect((await data.usage({ model: "m1,m2,m9" })).total.calls).toBe(2);
  expect((await data.listInteractions({ model: "m1,m2" })).interactions).toHaveLength(2);
  const lines: Entry[] = [];
  for await (const line of data.exportEntries({ project: "a,b", model: "m1,m2" }))
    lines.push(JSON.parse(line) as Entry);
  expect(lines.filter(({ kind }) => kind === "interaction")).toHaveLength(2);
  const tail = data.tail({ after: 0, tool: "grep,bash" });
  expect([(await tail.next()).value?.position, (await tail.next()).value?.position]).toEqual([4, 5]);
  await tail.return();
  const many = Array.from({ length: 21 }, (_, at) => `p${at}`);
  expect(await positions({ project: many.slice(1).join(","), client: many.slice(1).join(",") })).toEqual([]);
  for (const name of ["project", "client", "tool", "model"]) {
    await expect(data.listEntries({ [name]: many.join(",") })).rejects.toMatchObject({
      code: "field_invalid",
      field: name,
    });
  }
  await expect(data.listEntries({ project: "a,b\u0007" })).rejects.toMatchObject({ code: "label_invalid" });
});

describe("what an interaction is", () => {
  test("changes with its response: the model that answered, and that it was answered", async () => {
    const { data } = await apart();
    const { id } = await data.recordInteraction({ prompt: "who answers?" });
    const ids = async (options: Options) => idsOf((await data.listInteractions(options)).interactions);
    expect(await ids({ is: "unanswered" })).toEqual([id]);
    expect(await ids({ model: "late-model" })).toEqual([]);
    const completed = await data.completeInteraction(id, { response: "I do.", model: "late-model" });
    expect(await ids({ is: "unanswered" })).toEqual([]);
    expect(await ids({ model: "late-model" })).toEqual([id]);
    const lines: Entry[] = [];
    for await (const line of data.exportEntries({ model: "late-model" })) lines.push(JSON.parse(line) as Entry);
    expect(lines.slice(1).map(({ kind }) => kind)).toEqual(["interaction", "response"]);
    await data.forget({ entry: String(completed.response_id), reason: "asked for" });
    expect(await ids({ is: "unanswered" })).toEqual([id]);
    expect(await ids({ model: "late-model" })).toEqual([]);
  });

  test("is asked for in words too, and both must hold", async () => {
    const { data } = await apart();
    await data.append([
      { kind: "message", session_id: "s", role: "assistant", content: "word", confidence: 0.4 },
      { kind: "message", session_id: "s", role: "assistant", content: "word", confidence: 0.5 },
      { kind: "message", session_id: "s", role: "user", content: "word", confidence: 0.1 },
      { kind: "tool_call", tool: "bash", result: "word", is_error: true },
      { kind: "error", error: "word" },
      { kind: "interaction", prompt: "word", response: "word" },
    ]);
    const positions = async (q: string) => (await data.search(q)).results.map(({ position }) => position);
    expect(await positions("word is:low_confidence")).toEqual([1]);
    expect(await positions("is:error")).toEqual([5, 4]);
    expect(await positions("is:error tool:bash")).toEqual([4]);
    expect(await positions("is:error is:low_confidence")).toEqual([]);
    expect(await positions("is:disliked")).toEqual([]);
    expect(await positions("is:unanswered")).toEqual([]);
    expect((await data.search("kin:error")).notice).toBe(
      '"kin:error" was searched as text; the filter is called kind.',
    );
    expect(await data.search('word "kin:error" -kin:error timeout:5')).not.toHaveProperty("notice");
    await data.append({ kind: "error", error: "word kin:error", user_id: "anna" });
    expect(await positions("kin:error")).toEqual([7]);
    expect(await positions("user:anna")).toEqual([7]);
    expect(await positions("user_id:anna")).toEqual([7]);
    expect((await data.search("user:-")).results).toHaveLength(6);
    await expect(data.search("word is:broken")).rejects.toMatchObject({ code: "is_unknown", field: "q" });
  });
});

/** A store of its own for one test. */
async function apart(): Promise<{ readonly data: Recorder }> {
  const data = await openRecorder({ data: await storeOfTest() });
  onTestFinished(() => data.close());
  return { data };
}

function selects(name: string, entry: Entry): boolean {
  return filterValues[name as keyof typeof filterValues].selects(entry);
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id).toSorted();
}
