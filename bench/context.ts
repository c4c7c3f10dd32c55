// Was it told? The question in long sessions, put together from what was said and recorded with every call, against
// looking through the whole session.
import { join } from "node:path";
import { type EntryInput, openRecorder, type Recorder } from "../src/index.js";
import type { Measured, Suite, SuiteOptions } from "./figures.js";
import { mediansInTurn } from "./figures.js";

const SENTENCE = "The agent asked for the weather in Lisbon, compared three sources and answered in two lines. ";
const SENTENCES = 4;
const BATCH = 1_000;
/** The length stays as it is in a quick look too, because the target is meant for it. */
const TURNS = 10_000;
/** How many messages a caller sent along that keeps its own window. */
const PACK_MESSAGES = 20;
const CALLS = 20;
const AT_MOST_MS = 50;

export const context: Suite = {
  name: "context",
  about:
    "`told` in a session of 10,000 turns (a user's message and an answer of 0.4 KB each), for answers all over it: a text within the 500 messages before, one from the session's beginning, and one that was never said, against looking through the whole history; and the same where each of 10,000 calls recorded the 20 messages it was given, once the session has been asked about",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    return [...(await putTogether(options)), ...(await recorded(options))];
  },
};

async function putTogether({ folder, rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const recorder = await openRecorder({ data: join(folder, "said") });
  await fill(recorder, (turn) => [
    { kind: "message", session_id: "s", role: "user", content: wordsOf(turn) },
    { kind: "message", session_id: "s", role: "assistant", content: `Answer ${wordsOf(turn)}` },
  ]);
  const answerOf = (turn: number): number => 2 * turn + 2;
  const medians = await mediansInTurn(
    {
      given: (nth) => recorder.told(answerOf(turnOf(nth)), `word ${turnOf(nth) - (nth % 240)}:`),
      fell_out: (nth) => recorder.told(answerOf(turnOf(nth)), `word ${nth % 300}:`),
      never: (nth) => recorder.told(answerOf(turnOf(nth)), `nobody said ${nth}`),
      history: () => recorder.session("s").history(),
    },
    { rounds, calls: CALLS },
  );
  const { all } = await mediansInTurn(
    {
      all: async (nth) => {
        const history = await recorder.session("s").history({ max_messages: 10 * TURNS });
        return history.find(({ content }) => String(content).includes(`nobody said ${nth}`));
      },
    },
    { rounds, calls: 1 },
  );
  await recorder.close();
  return [
    ...toFigures("told", medians),
    { name: "history(500) of the session", value: medians.history / 1_000, unit: "ms" },
    { name: "looking through the whole history", value: all / 1_000, unit: "ms" },
    {
      name: "never ÷ looking through all",
      of: ["told: never", "looking through the whole history"],
      target: { at_most: 0.5 },
    },
  ];
}

async function recorded({ folder, rounds }: SuiteOptions): Promise<readonly Measured[]> {
  const recorder = await openRecorder({ data: join(folder, "recorded") });
  await fill(recorder, (turn) => {
    const from = Math.max(0, turn - PACK_MESSAGES / 2 + 1);
    const messages = Array.from({ length: turn - from + 1 }, (_, at) => [
      { role: "user", content: wordsOf(from + at) },
      { role: "assistant", content: `Answer ${wordsOf(from + at)}` },
    ]).flat();
    const context_pack = { system: "Answer in two lines.", messages: messages.slice(0, -1) };
    return [{ kind: "interaction", session_id: "s", prompt: wordsOf(turn), response: "two lines", context_pack }];
  });
  const medians = await mediansInTurn(
    {
      given: (nth) => recorder.told(turnOf(nth) + 1, `word ${turnOf(nth) - (nth % 9)}:`),
      fell_out: (nth) => recorder.told(turnOf(nth) + 1, `word ${turnOf(nth) - 10 - (nth % 300)}:`),
      never: (nth) => recorder.told(turnOf(nth) + 1, `nobody said ${nth}`),
    },
    { rounds, calls: CALLS },
  );
  await recorder.close();
  return toFigures("told, contexts recorded", medians);
}

function toFigures(
  name: string,
  medians: { readonly [verdict in "given" | "fell_out" | "never"]: number },
): readonly Measured[] {
  return (["given", "fell_out", "never"] as const).map((verdict) => ({
    name: `${name}: ${verdict.replace("_", " ")}`,
    value: medians[verdict] / 1_000,
    unit: "ms",
    target: { at_most: AT_MOST_MS },
  }));
}

async function fill(recorder: Recorder, entriesOf: (turn: number) => readonly EntryInput[]): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += BATCH) {
    await recorder.append(Array.from({ length: BATCH }, (_, at) => entriesOf(turn + at)).flat());
  }
  // The index is up to date before anything is measured.
  await recorder.search("nothing says this");
}

/** All over the second half of the session, so there is something to fall out of. */
function turnOf(nth: number): number {
  return TURNS / 2 + ((nth * 7_919) % (TURNS / 2));
}

function wordsOf(turn: number): string {
  return `word ${turn}: ${SENTENCE.repeat(SENTENCES)}`;
}
