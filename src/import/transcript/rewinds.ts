// Prompts that were taken back and asked anew: a prompt that hangs where an earlier one hung leaves all that was said since.

/** Taken back is what was said lately; of more turns than these the oldest are forgotten. */
const TURNS_MAX = 100;

interface Turn {
  readonly prompt: string;
  readonly parent: string;
  /** The native ids of what was said in it. */
  readonly said: string[];
  /** It was taken back; it is remembered, because a copy of the whole file says it once more. */
  is_left: boolean;
}

/** What a reading that goes on later has to know. */
export interface RewindsNote {
  readonly turns: readonly Turn[];
  readonly is_copy: boolean;
}

/** The turns of one session, as they stand. */
export class Rewinds {
  readonly #turns: Turn[];
  /** Whether what is said now was said before. */
  #isCopy: boolean;

  constructor(known?: RewindsNote) {
    this.#turns = (known?.turns ?? []).map((turn) => ({ ...turn, said: [...turn.said] }));
    this.#isCopy = known?.is_copy ?? false;
  }

  note(): RewindsNote {
    return { turns: this.#turns, is_copy: this.#isCopy };
  }

  /** Takes a prompt, and answers with the native ids of what it leaves. */
  ask(prompt: string, parent = ""): readonly string[] {
    this.#isCopy = this.#turns.some((turn) => turn.prompt === prompt);
    if (this.#isCopy) return [];
    const from = this.#turns.findIndex((turn) => parent !== "" && turn.parent === parent && !turn.is_left);
    const left = from === -1 ? [] : this.#turns.slice(from).filter((turn) => !turn.is_left);
    for (const turn of left) turn.is_left = true;
    this.#turns.push({ prompt, parent, said: [prompt], is_left: false });
    if (this.#turns.length > TURNS_MAX) this.#turns.shift();
    return left.flatMap(({ said }) => said);
  }

  /** Takes what was said after the last prompt, by its native id. */
  say(native: string): void {
    const said = this.#isCopy ? undefined : this.#turns.at(-1)?.said;
    if (said !== undefined && said.at(-1) !== native) said.push(native);
  }
}
