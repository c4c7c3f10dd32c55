// Stems: inflection, stop words and scripts without spaces, the same whatever was asked before.
import { describe, expect, test } from "vitest";
import { sentencesOf } from "./sentences.js";
import { jaccard, Stems } from "./stems.js";

const stems = new Stems();
const of = (text: string) => [...stems.of(text)];

describe("stems", () => {
  test("words lose inflection, and those that say nothing go", () => {
    expect(of("The servers are listening, and the server's configuration was changed")).toEqual([
      "server",
      "listen",
      "configur",
      "chang",
    ]);
    expect(of("the of and is")).toEqual([]);
    expect(of("")).toEqual([]);
  });

  test.each([
    ["german", "Die Zertifikate werden nicht erneuert", "Das Zertifikat wird nicht erneuert"],
    ["french", "L'utilisateur demande des réponses courtes", "Les utilisateurs ont demandé une réponse courte"],
    [
      "spanish",
      "Los servidores de producción con nombres cortos y claros",
      "El servidor de producción con un nombre corto y claro",
    ],
    ["english", "Deployments need approvals", "A deployment needs approval"],
  ])("in %s, inflection is no difference", (language, one, other) => {
    expect(stems.language(one).name).toBe(language);
    expect(stems.similarity(one, other)).toBe(1);
  });

  test("scripts without spaces are cut into words", () => {
    expect(of("生产环境的配置文件")).toEqual(expect.arrayContaining(["配置", "文件"]));
    expect(of("データベースは読み取り専用")).toEqual(expect.arrayContaining(["データベース", "専用"]));
  });

  test("a text that shows no language is compared in the other's", () => {
    expect(stems.language("Zertifikate Server").name).toBe("english");
    expect(stems.similarity("Zertifikate Server", "die Server und das Zertifikat")).toBe(1);
  });

  test("the share is that of all members", () => {
    expect(jaccard(new Set(["a", "b"]), new Set(["b", "c"]))).toBeCloseTo(1 / 3);
    expect(jaccard(new Set(), new Set())).toBe(0);
    expect(jaccard(new Set(["a"]), new Set())).toBe(0);
  });

  test("what is kept changes no answer, also when it is thrown away", () => {
    const busy = new Stems();
    const before = [...busy.of("Deployments need approvals")];
    for (let at = 0; at < 25_000; at += 1) busy.of(`filler${at} words${at % 7}`);
    expect([...busy.of("Deployments need approvals")]).toEqual(before);
  });
});

describe("sentences", () => {
  const texts = (text: string) => [...sentencesOf(text)].map((sentence) => sentence.text);

  test.each([
    ["One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
    [
      "Use e.g. tabs, i.e. no spaces, v1.2 and so on. Next.",
      ["Use e.g. tabs, i.e. no spaces, v1.2 and so on.", "Next."],
    ],
    ["第一句。第二句！第三句", ["第一句。", "第二句！", "第三句"]],
    ["- one\n- two\n\nthree", ["- one", "- two", "three"]],
    ["1. First item\n2. Second", ["1. First item", "2. Second"]],
    ['He said "stop." Then he left.', ['He said "stop."', "Then he left."]],
    ["short line\nnext line", ["short line", "next line"]],
    [
      "a line that is so long that an editor has wrapped it right here\nand goes on. End.",
      ["a line that is so long that an editor has wrapped it right here\nand goes on.", "End."],
    ],
    ["", []],
    [" \n\t\n ", []],
  ])("%j", (text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  test("each stands where it says, and one without an end is cut", () => {
    const text = `Begin here. ${"word ".repeat(2_000)}`;
    const found = [...sentencesOf(text)];
    expect(found.length).toBeGreaterThan(4);
    for (const { text: sentence, start, end } of found) expect(text.slice(start, end)).toBe(sentence);
  });
});
