// Precision and recall of rules, gates and matching on the labelled lists.
import { readFileSync } from "node:fs";
import { judge } from "../../src/memories/judge/gates.js";
import { MemoryIndex } from "../../src/memories/reinforce/matching.js";
import { usesOf } from "../../src/memories/reinforce/turn-uses.js";
import type { Speaker } from "../../src/memories/text/quoted-entry.js";
import { quotedEntry } from "../../src/memories/text/quoted-entry.js";
import { Stems } from "../../src/memories/text/stems.js";
import type { Entry } from "../../src/model/entry.js";
import type { MemoryType } from "../../src/model/memory.js";
import { ruleProposals } from "../support/rule-proposals.js";

const stems = new Stems();

/** A turn, and what should be proposed of it by anybody; `reach` names who could, where rules cannot. */
interface LabelledTurn {
  readonly lang: string;
  readonly user?: string;
  readonly assistant?: string;
  readonly decision?: string;
  readonly propose: readonly (readonly [type: MemoryType, content: string])[];
  readonly reach?: "model";
}

type Verdict = "none" | "given" | "used" | "confirmed";

interface LabelledPair {
  readonly memory: string;
  readonly id?: string;
  readonly given: boolean;
  readonly by?: Speaker;
  readonly answer: string;
  readonly is: Verdict;
}

export interface Measured {
  readonly samples: number;
  readonly right: number;
  readonly proposed: number;
  readonly expected: number;
  readonly precision: number;
  readonly recall: number;
  /** Recall of what is within the reach of rules. */
  readonly recallInReach: number;
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
}

export function measureTurns(file: string): Measured {
  const wrong: string[] = [];
  const missed: string[] = [];
  const counts = { right: 0, proposed: 0, expected: 0, inReach: 0 };
  const turns = linesOf<LabelledTurn>(file);
  for (const turn of turns) {
    const open = [...turn.propose];
    for (const { type, content } of proposedOf(turn)) {
      counts.proposed += 1;
      const at = open.findIndex(([t, expected]) => t === type && stems.similarity(expected, content) >= 0.7);
      if (at === -1) wrong.push(`${turn.lang} ${type}: ${content}`);
      else {
        counts.right += 1;
        open.splice(at, 1);
      }
    }
    counts.expected += turn.propose.length;
    counts.inReach += turn.reach === undefined ? turn.propose.length : 0;
    missed.push(
      ...open.map(
        ([type, content]) => `${turn.lang} ${type}${turn.reach === undefined ? "" : " (out of reach)"}: ${content}`,
      ),
    );
  }
  return {
    ...counts,
    samples: turns.length,
    precision: counts.right / counts.proposed,
    recall: counts.right / counts.expected,
    recallInReach: counts.right / counts.inReach,
    wrong,
    missed,
  };
}

/** Of pairs: right if it is used or confirmed, and reported so. */
export function measurePairs(file: string): Measured {
  const pairs = linesOf<LabelledPair>(file);
  const said = pairs.map((pair) => ({ pair, verdict: verdictOn(pair) }));
  const isMatch = (verdict: Verdict) => verdict === "used" || verdict === "confirmed";
  const shown = ({ pair, verdict }: (typeof said)[number]) =>
    `${verdict}, is ${pair.is}: ${pair.memory} | ${pair.answer}`;
  const proposed = said.filter(({ verdict }) => isMatch(verdict));
  const expected = said.filter(({ pair }) => isMatch(pair.is));
  const right = proposed.filter(({ pair, verdict }) => pair.is === verdict);
  return {
    samples: pairs.length,
    right: right.length,
    proposed: proposed.length,
    expected: expected.length,
    precision: right.length / proposed.length,
    recall: right.length / expected.length,
    recallInReach: right.length / expected.length,
    wrong: said
      .filter(({ pair, verdict }) => pair.is !== verdict && !expected.some((each) => each.pair === pair))
      .map(shown),
    missed: expected.filter(({ pair, verdict }) => pair.is !== verdict).map(shown),
  };
}

/** What rules propose of a turn, and the gates let pass where nothing is known yet. */
function proposedOf(turn: LabelledTurn): readonly { readonly type: MemoryType; readonly content: string }[] {
  return entriesOf(turn).flatMap((entry) => {
    const quoted = quotedEntry(entry);
    const ground = { entriesById: new Map(quoted === undefined ? [] : [[entry.id, quoted]]), given: [], memories: [] };
    return ruleProposals(entry).flatMap((proposal) => {
      const judgement = judge(proposal, ground, stems);
      return "kept" in judgement ? [judgement.kept] : [];
    });
  });
}

function entriesOf({ user, assistant, decision }: LabelledTurn): readonly Entry[] {
  const envelope = { session_id: "s1", project: "atlas", extra: {} };
  return [
    ...(user === undefined ? [] : [{ ...envelope, id: "e1", kind: "message", role: "user", content: user }]),
    ...(assistant === undefined
      ? []
      : [{ ...envelope, id: "e2", kind: "message", role: "assistant", content: assistant }]),
    ...(decision === undefined ? [] : [{ ...envelope, id: "e3", kind: "decision", decision, rationale: "" }]),
  ] as unknown as readonly Entry[];
}

function verdictOn({ memory, id = "m-1", given, by = "assistant", answer }: LabelledPair): Verdict {
  const index = new MemoryIndex([{ id, content: memory }], stems);
  const turn = { said: [{ by, text: answer }], memories_used: given ? [id] : [], packs: [] };
  const uses = usesOf(turn, index, { given: new Set(), recalled: new Set() });
  if (uses.used.has(id)) return "used";
  if (uses.confirmed.has(id)) return "confirmed";
  return uses.given.has(id) ? "given" : "none";
}

function linesOf<T>(file: string): readonly T[] {
  const text = readFileSync(new URL(`../../../test/fixtures/judging/${file}`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
