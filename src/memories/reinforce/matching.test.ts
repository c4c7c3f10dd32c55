// Matching on both sides of its thresholds, and what becomes of a match.
import { describe, expect, test } from "vitest";
import type { Speaker } from "../text/quoted-entry.js";
import { Stems } from "../text/stems.js";
import { MemoryIndex, stemsNeeded } from "./matching.js";
import { usesOf } from "./turn-uses.js";

const stems = new Stems();
const trees =
  "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper kapok larch maple nutmeg olive pine quince rowan spruce teak upas vine willow yew zelkova acacia baobab cypress ebony fig guava hickory jacaranda kauri lime mango neem oak poplar rubber sequoia tamarind".split(
    " ",
  );
const ofTrees = (count: number) => trees.slice(0, count).join(" ");
const matches = (memory: string, text: string) =>
  new MemoryIndex([{ id: "m-1", content: memory }], stems).matchedIn(text).has("m-1");

test.each([
  // stems of the memory, stems needed
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 4],
  [5, 4],
  [6, 5],
  [10, 7],
  [15, 11],
  [16, 12],
  [34, 12],
  [35, 13],
  [40, 14],
])("of %d stems a match needs %d", (count, needed) => {
  expect(stemsNeeded(count)).toBe(needed);
  expect(matches(ofTrees(count), ofTrees(needed))).toBe(true);
  expect(matches(ofTrees(count), ofTrees(needed - 1))).toBe(false);
});

test("within three consecutive sentences, wherever they stand", () => {
  const parts = ["alder birch.", "cedar dogwood.", "elm fir.", "ginkgo."].map(
    (part) => part.charAt(0).toUpperCase() + part.slice(1),
  );
  const memory = ofTrees(7);
  expect(matches(memory, parts.slice(0, 3).join(" "))).toBe(true);
  expect(matches(memory, `Something else. ${parts.slice(0, 3).join(" ")} And more.`)).toBe(true);
  expect(matches(memory, "Alder birch. Cedar. Something else. Dogwood elm. More.")).toBe(false);
  expect(matches(memory, "Alder birch. Cedar dogwood. Elm.")).toBe(true);
});

describe("a short memory", () => {
  test.each([
    ["Answers in German", "As you know: ANSWERS,  in *German*."],
    ["Never push to main", "I never push to main, so I made a branch."],
    ["Use port 4747", "No, use port 4747."],
    ["Prices are always in cents", "Careful. Prices are always in cents. Go on."],
    ["We deploy only from the release branch", "Wait, we deploy only from the release branch!"],
    ["Do it by yourself", "Please do it by yourself."],
    ["Antworten auf Deutsch", "The user wrote “Antworten auf Deutsch” in the file of rules that is read at the start."],
    ["用中文回答", "好的，用中文回答。"],
    ["使用端口4747", "请使用端口4747，不要使用80。"],
    ["使用端口4747", "使用端口4747而不是80。"],
    ["ポート4747を使う", "はい、ポート4747を使う。"],
    ["Use tabs", "Use tabs instead of spaces."],
    ["Use port 4747", "Use port 4747 rather than 80."],
    ["Use port 4747", "Do:\n- use port 4747\n\nDon't:\n- use 80"],
    ["Use port 4747", "Use port 4747? Yes."],
    ["Use port 4747", "We use port 4747."],
  ])("%j is repeated word for word in %j", (memory, text) => {
    expect(matches(memory, text)).toBe(true);
  });

  test.each([
    ["Use port 4747", "do not use port 4747"],
    ["Use port 4747", "Don’t use port 4747!"],
    ["Use port 4747", "Do not, whatever happens, use port 4747."],
    ["Use port 4747", "Verwende niemals: use port 4747"],
    ["Use port 4747", "use port 47470"],
    ["Use port 4747", "I confuse port 4747"],
    ["Do it by yourself", "Don't do it by yourself."],
    ["Never push to main", "Push to main."],
    ["Push to main", "Never push to main."],
    ["使用端口4747", "不要使用端口4747"],
    ["使用端口4747", "请勿使用端口4747。"],
    ["使用端口4747", "使用端口80而不是使用端口4747。"],
    ["ポート4747を使う", "ポート4747を使うな"],
    ["ポート4747を使う", "ポート4747を使うな。"],
    ["ポート4747を使う", "ポート4747を使うことは禁止です。"],
    ["Use port 4747", "Nobody should use port 4747."],
    ["Use port 4747", "Nothing may use port 4747."],
    ["Use port 4747", "Neither we nor they use port 4747."],
    ["Use port 4747", "We couldn't use port 4747."],
    ["Use port 4747", "I wouldn’t use port 4747."],
    ["Use port 4747", "It hasn't used port 4747."],
    ["Use port 4747", "I refuse to use port 4747."],
    ["Use port 4747", "It is forbidden to use port 4747."],
    ["Use port 4747", "Instead of port 4747 use 80."],
    ["Use port 4747", "Port 80 is what we use rather than 4747."],
    ["Use port 4747", "Don't:\n- run it as root\n- use port 4747"],
    ["Do it by yourself", "Please don't:\n- do it by yourself"],
    ["Use port 4747", "Use port 4747? No."],
    ["Use port 4747", "Use port 4747? No, use 80."],
    ["Use port 4747", "use port 4747.5"],
    ["Do it by 10", "Do it by 10.5 at most."],
    ["10 is it", "1.10 is it"],
    ["Deploy the service from the release branch", "Nobody may deploy the service from the release branch."],
  ])("%j is not said by %j", (memory, text) => {
    expect(matches(memory, text)).toBe(false);
  });

  test.each([
    ["Use port 4747", "The server used port 4747.", true],
    ["Use port 4747", "I did not restart it, it uses the port 4747.", true],
    ["Use port 4747", "It never used that port, 4747.", false],
    ["Use port 4747", "The port is in use. It is 4747.", false],
    ["Use port 4747", "Use port 8080.", false],
    ["Never push to main", "I did not push this to main.", true],
    ["Never push to main", "I pushed this to main.", false],
  ])("%j has all its stems in one sentence of %j, with the same negation: %s", (memory, text, isMatch) => {
    expect(matches(memory, text)).toBe(isMatch);
  });
});

test("a long memory is repeated word for word over more than three sentences", () => {
  const memory = "Alder birch. Cedar dogwood. Elm fir. Ginkgo hazel. Ironwood juniper. Kapok larch.";
  expect(matches(memory, `Known: ${memory} So it is.`)).toBe(true);
  expect(matches(memory, "Alder birch. Cedar dogwood. Elm fir. Hazel ginkgo. Ironwood juniper. Kapok larch.")).toBe(
    false,
  );
});

test("many denied repetitions take about as long as their text", () => {
  const time = (work: () => unknown): number => {
    const from = performance.now();
    work();
    return performance.now() - from;
  };
  const ports = Array.from({ length: 10_000 }, (_, nth) => ({ id: `m-${nth}`, content: `use port ${nth}` }));
  const many = new MemoryIndex(ports, stems);
  const denied = Array.from({ length: 1_000 }, (_, nth) => `Do not use port ${nth}.`).join(" ");
  let found: ReadonlySet<string> = new Set(["none yet"]);
  expect(time(() => (found = many.matchedIn(denied)))).toBeLessThan(1_500);
  expect(found.size).toBe(0);
  const words = Array.from({ length: 2_000 }, (_, nth) => ({ id: `m-${nth}`, content: `it is for him ${nth}` }));
  const small = new MemoryIndex(words, stems);
  const never = Array.from({ length: 16_000 }, (_, nth) => `Never it is for him ${nth % 2_000}.`).join(" ");
  expect(time(() => (found = small.matchedIn(never)))).toBeLessThan(3_000);
  expect(found.size).toBe(0);
});

test("repeating a word adds nothing", () => {
  expect(matches(ofTrees(5), "alder alder alder birch birch cedar")).toBe(false);
});

test("inflection is no difference, in the language of the text", () => {
  expect(
    matches(
      "Die Zertifikate der Server werden jeden Monat erneuert",
      "Das Zertifikat des Servers wird jeden Monat erneuert.",
    ),
  ).toBe(true);
  expect(
    matches(
      "Search indexes get rebuilt on Sundays",
      "Am Sonntag gebaut: search index rebuilt sundays und so weiter mit der und die",
    ),
  ).toBe(true);
});

test.each([
  ["0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a77", "as memory 0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a77 says", true],
  ["0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a77", "(see 0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a77).", true],
  ["0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a77", "see 0191f0aa-7c11-7b3e-9d2a-5f1f0c9b2a78", false],
  ["mem-1", "see memory mem-1.", true],
  ["mem-1", "(Memory `mem-1`)", true],
  ["mem-1", "see memory mem-12", false],
  ["mem-1", "see mem-1.", true],
  ["mem-1", "see mem-12", false],
  ["rule-1", "see rule-1.", false],
  ["rule-1", "see memory rule-1.", true],
  ["package.json", "I read package.json", false],
  ["utf-8", "The file is in utf-8.", false],
  ["tabs", "I used tabs", false],
])("cited by its id %s in %j: %s", (id, text, isCited) => {
  expect(new MemoryIndex([{ id, content: "Some words" }], stems).matchedIn(text).has(id)).toBe(isCited);
});

test("a memory stands in a pack as it is, case, white space and punctuation aside", () => {
  const index = new MemoryIndex([{ id: "m-1", content: "Use tabs, not spaces." }], stems);
  expect([...index.containedIn("Known:\n- USE TABS  not spaces\n- more")]).toEqual(["m-1"]);
  expect([...index.containedIn("Use spaces, not tabs")]).toEqual([]);
  expect([...index.containedIn("I refuse tabs, not spaces")]).toEqual([]);
});

test("a row's hits do not outlive the text that made them", () => {
  const index = new MemoryIndex([{ id: "m-1", content: ofTrees(5) }], stems);
  for (let round = 0; round < 3; round += 1) expect(index.matchedIn(ofTrees(3)).size).toBe(0);
  expect(index.matchedIn(ofTrees(4)).size).toBe(1);
});

describe("uses of a turn", () => {
  const memory = "Deploys happen on Fridays after the release meeting";
  const index = new MemoryIndex([{ id: "m-1", content: memory }], stems);
  const none = { given: new Set<string>(), recalled: new Set<string>() };
  const uses = ({
    by = "assistant",
    text = memory,
    memories_used = [] as string[],
    packs = [] as string[],
    session = none,
  }: {
    by?: Speaker;
    text?: string;
    memories_used?: string[];
    packs?: string[];
    session?: { given: Set<string>; recalled: Set<string> };
  }) => {
    const { given, used, confirmed } = usesOf({ said: [{ by, text }], memories_used, packs }, index, session);
    return [given.size, used.size, confirmed.size];
  };
  const before = new Set(["m-1"]);

  test("given by id, by text, or by having been recalled; used where the answer repeats it", () => {
    expect(uses({ memories_used: ["m-1"] })).toEqual([1, 1, 0]);
    expect(uses({ packs: [`Known: ${memory.toUpperCase()}!`] })).toEqual([1, 1, 0]);
    expect(uses({ session: { given: new Set(), recalled: before } })).toEqual([1, 1, 0]);
    expect(uses({ memories_used: ["m-1"], text: "Done." })).toEqual([1, 0, 0]);
    expect(uses({ memories_used: ["m-1"], by: "user" })).toEqual([1, 0, 0]);
    expect(uses({ memories_used: ["unknown"], text: "Done." })).toEqual([0, 0, 0]);
  });

  test("confirmed by user, tool or model where the session was not given it; an echo proves nothing", () => {
    for (const by of ["user", "tool", "assistant"] as const) expect(uses({ by })).toEqual([0, 0, 1]);
    expect(uses({ by: "system" })).toEqual([0, 0, 0]);
    expect(uses({ session: { given: before, recalled: new Set() } })).toEqual([0, 0, 0]);
    expect(uses({ text: "Done." })).toEqual([0, 0, 0]);
  });
});
