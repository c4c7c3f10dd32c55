// Which recorded answers are the same call to a model: what a program said of it as a message, and the request that was recorded.
// By the provider's id of the answer, by the ids of its tool calls, or by its text within one turn.

/** A message or an interaction of one session, reduced to what identifies a call. */
export interface CallStep {
  readonly position: number;
  readonly by: "user" | "message" | "interaction";
  /** The provider's id of the answer. */
  readonly answer?: string | undefined;
  /** Ids of the tool calls in the answer. */
  readonly calls?: readonly string[] | undefined;
  /** Stands for the text of the answer; equal texts have equal ones. */
  readonly said?: string | undefined;
  /** Stands for the user's words: of the message, or those that the interaction ends with. */
  readonly asked?: string | undefined;
}

export interface SameCalls {
  /** By the interaction's position: the first message of the same call. */
  readonly messageOf: ReadonlyMap<number, number>;
  /** By the message's position: the interaction. A source may write one answer as several messages. */
  readonly interactionOf: ReadonlyMap<number, number>;
  /** Positions of interactions whose prompt is a user's message of the same turn. */
  readonly prompted: ReadonlySet<number>;
}

type Name = "answer" | "call" | "said";

interface Placed {
  readonly step: CallStep;
  readonly turn: number;
}

/** Takes steps in order of position. */
export function pairCalls(steps: readonly CallStep[]): SameCalls {
  const all = inTurns(steps);
  const pairs = new Pairs(promptedIn(all));
  const placed = all.filter(({ step }) => step.by !== "user");
  for (const name of ["answer", "call"] as const) {
    pairs.join(
      groupBy(placed, name, ({ turn }) => turn),
      "several",
    );
    // A transcript may be imported long after the requests were recorded.
    pairs.join(
      groupBy(placed, name, () => 0),
      "only_one",
    );
  }
  pairs.join(
    groupBy(placed, "said", ({ turn }) => turn),
    "one_each",
  );
  return pairs;
}

class Pairs implements SameCalls {
  readonly messageOf = new Map<number, number>();
  readonly interactionOf = new Map<number, number>();

  constructor(readonly prompted: ReadonlySet<number>) {}

  /**
   * Pairs the first message with the first interaction, the second with the second and so on. `several`: what is left belongs to
   * the last one; `only_one`: nothing is paired unless there is one interaction.
   */
  join(groups: Iterable<Group>, how: "several" | "only_one" | "one_each"): void {
    for (const { interactions, messages } of groups) {
      const isOneEach = how === "one_each";
      const left = messages.filter(({ position }) => !this.interactionOf.has(position));
      const free = isOneEach ? interactions.filter(({ position }) => !this.messageOf.has(position)) : interactions;
      if (how === "only_one" && free.length !== 1) continue;
      for (const [nth, message] of left.entries()) {
        const interaction = free[isOneEach ? nth : Math.min(nth, free.length - 1)];
        if (interaction !== undefined && isPossible(interaction, message)) this.#add(interaction, message);
      }
    }
  }

  #add({ position: interaction }: CallStep, { position: message }: CallStep): void {
    this.interactionOf.set(message, interaction);
    const before = this.messageOf.get(interaction);
    if (before === undefined || message < before) this.messageOf.set(interaction, message);
  }
}

/** Two answers are two calls, although they say the same. */
function isPossible(one: CallStep, other: CallStep): boolean {
  return one.answer === undefined || other.answer === undefined || one.answer === other.answer;
}

/**
 * A turn begins with the user's words, or with an interaction that ends with other words than the one before. A program may
 * record the user's words only after the call.
 */
function inTurns(steps: readonly CallStep[]): readonly Placed[] {
  let turn = 0;
  let sent: string | undefined;
  let hasUser = false;
  return steps.map((step) => {
    const { by, asked } = step;
    if (by === "user" && asked !== undefined) {
      if (hasUser || sent === undefined || sent !== asked) {
        turn += 1;
        sent = undefined;
      }
      hasUser = true;
    } else if (by === "interaction") {
      if (sent !== undefined && sent !== asked) {
        turn += 1;
        hasUser = false;
      }
      sent = asked;
    }
    return { step, turn };
  });
}

function promptedIn(placed: readonly Placed[]): ReadonlySet<number> {
  const keyOf = ({ step, turn }: Placed): string => `${turn} ${step.asked}`;
  const words = new Set(placed.flatMap((one) => (one.step.by === "user" ? [keyOf(one)] : [])));
  const interactions = placed.filter(({ step }) => step.by === "interaction");
  return new Set(interactions.flatMap((one) => (words.has(keyOf(one)) ? [one.step.position] : [])));
}

interface Group {
  readonly interactions: CallStep[];
  readonly messages: CallStep[];
}

function groupBy(placed: readonly Placed[], name: Name, scopeOf: (placed: Placed) => number): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const one of placed) {
    for (const key of keysOf(one.step, name)) {
      const full = `${scopeOf(one)} ${key}`;
      const group = groups.get(full) ?? { interactions: [], messages: [] };
      groups.set(full, group);
      (one.step.by === "message" ? group.messages : group.interactions).push(one.step);
    }
  }
  return groups.values();
}

function keysOf({ answer, calls = [], said }: CallStep, name: Name): readonly string[] {
  if (name === "call") return calls;
  const key = name === "answer" ? answer : said;
  return key === undefined ? [] : [key];
}
