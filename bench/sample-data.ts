// Texts for the benchmark of search: words of several languages by their rank, code, ids; the same in every run.

import type { InteractionInput } from "../src/index.js";
import { itemAt } from "../src/model/item-at.js";

const SENTENCE_WORDS = 12;
const WORDS_PER_LANGUAGE = 6_000;
const ID_DIGITS = 10;
/** Of the parts that follow the first. */
const ENTRY_BYTES = 1_650;

/** What words are made of. */
const SYLLABLES = [
  "ba be bo cal con cer dem der dis ent er est fer for ga ing in ion ko lan le ment mo na ner o par per que re ro ".concat(
    "sa ser sta te ter ti tion tra un ur ver vi",
  ),
  "ab an auf be den der ein er ge gen heit in ig ich keit lich mit nach sch sie stra ße tä tung über un ver wei zu",
  "во ва ге го да де ен за из ка ко ла ло ме на не но ов от пе по ра ре ро ст та те то ть",
].map((line) => line.split(" "));
const COMMON = ["the", "error", "and", "function", "of", "to", "return", "request", "in", "timeout"];
const IDEOGRAPHS = Array.from({ length: 2_500 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7) % 20_000)));

export interface CorpusEntry {
  readonly role: string;
  readonly content: string;
}

export class Corpus {
  readonly #vocabularies: readonly (readonly string[])[];

  constructor() {
    const random = seeded(1);
    this.#vocabularies = SYLLABLES.map((syllables, language) => [
      ...(language === 0 ? COMMON : []),
      ...Array.from({ length: WORDS_PER_LANGUAGE }, () =>
        Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(syllables, random())).join(""),
      ),
    ]);
  }

  /** The entry of this number, of about 1.8 KB unless fewer bytes are wanted; always the same. */
  entry(number: number, bytesMin = ENTRY_BYTES): CorpusEntry {
    const random = seeded(number + 1_000);
    const parts = [`${capitalised(this.#sentence(0, random))} ${idOf(number)}.`];
    for (let bytes = 0; bytes < bytesMin; ) {
      const part = this.#part(random);
      parts.push(part);
      bytes += Buffer.byteLength(part);
    }
    return { role: number % 2 === 0 ? "user" : "assistant", content: parts.join("\n") };
  }

  /** A word of two ideographs that occurs here and there. */
  ideographs(): string {
    return `${IDEOGRAPHS[40]}${IDEOGRAPHS[41]}`;
  }

  #part(random: () => number): string {
    const kind = random();
    if (kind < 0.55) return `${capitalised(this.#sentence(0, random))}.`;
    if (kind < 0.65) return `${capitalised(this.#sentence(1, random))}.`;
    if (kind < 0.72) return `${capitalised(this.#sentence(2, random))}.`;
    if (kind < 0.8) return `${this.#ideographs(random)}。`;
    const words = itemAt(this.#vocabularies, 0);
    const [name, call] = [pick(words, random() ** 3), pick(words, random() ** 3)];
    const line = Math.floor(random() * 900);
    return `  const ${name}_${call} = await ${call}.${name}({ id: ${Math.floor(random() * 1e6)} }); // src/${name}/${call}.ts:${line}`;
  }

  #sentence(language: number, random: () => number): string {
    const words = itemAt(this.#vocabularies, language);
    // Cubed, a few words are most of what is said, as in any language.
    return Array.from({ length: SENTENCE_WORDS }, () => pick(words, random() ** 3)).join(" ");
  }

  #ideographs(random: () => number): string {
    const units = Array.from({ length: 30 }, () => pick(IDEOGRAPHS, random() ** 3));
    return random() < 0.02 ? `${units.join("")}${this.ideographs()}` : units.join("");
  }
}

/** Occurs in one entry only. */
export function idOf(number: number): string {
  const random = seeded(number + 77);
  return Array.from({ length: ID_DIGITS }, () => Math.floor(random() * 36).toString(36)).join("");
}

/** Mulberry32: small, quick and even enough for texts. */
export function seeded(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function pick<T>(items: readonly T[], share: number): T {
  return items[Math.floor(share * items.length)] as T;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const SENTENCE = "The agent asked for the weather in Lisbon, compared three sources and answered in two lines. ";

export function sampleInteraction(number: number): InteractionInput & { readonly kind: "interaction" } {
  return {
    kind: "interaction",
    prompt: `${number}: ${SENTENCE.repeat(12)}`,
    response: SENTENCE.repeat(24),
    project: "bench",
    session_id: `session-${number % 100}`,
    client: "bench",
    memories_used: ["m-1", "m-2"],
    chunks_used: ["c-1", "c-2", "c-3"],
    context_pack: { budget: 3000, parts: [SENTENCE, SENTENCE] },
    model: "example-1",
    usage: { input_tokens: 812, output_tokens: 371 },
    latency_ms: 1840,
  };
}
