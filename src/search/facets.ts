// Facets: how the hits of a search are spread over kinds, projects and sessions.
import { limits } from "../model/limits.js";

export interface Facets {
  readonly kinds: readonly { readonly kind: string; readonly count: number }[];
  readonly projects: readonly { readonly project: string; readonly count: number }[];
  readonly sessions: readonly { readonly session_id: string; readonly count: number }[];
  /** How many hits were counted. */
  readonly counted: number;
  /** Whether that is all of them, and every value is named; the newest hits are counted, and the commonest named. */
  readonly complete: boolean;
}

const VALUES_MAX = 100;

/** Counts hits up to a limit. */
export class FacetCounts {
  readonly #kinds = new Map<string, number>();
  readonly #projects = new Map<string, number>();
  readonly #sessions = new Map<string, number>();
  #counted = 0;
  #isFull = false;

  /** Notes that not all hits were counted. */
  stop(): void {
    this.#isFull = true;
  }

  /** False at the limit; the hit is not counted then. */
  add(kind: string, body: { readonly [field: string]: unknown }): boolean {
    if (this.#counted >= limits.facet_hits) {
      this.stop();
      return false;
    }
    this.#counted += 1;
    addOne(this.#kinds, kind);
    addOne(this.#projects, body.project);
    addOne(this.#sessions, body.session_id);
    return true;
  }

  facets(): Facets {
    const counts = [this.#kinds, this.#projects, this.#sessions];
    return {
      kinds: commonest(this.#kinds).map(([kind, count]) => ({ kind, count })),
      projects: commonest(this.#projects).map(([project, count]) => ({ project, count })),
      sessions: commonest(this.#sessions).map(([session_id, count]) => ({ session_id, count })),
      counted: this.#counted,
      complete: !this.#isFull && counts.every(({ size }) => size <= VALUES_MAX),
    };
  }
}

/** A label that was not given counts under `""`. */
function addOne(counts: Map<string, number>, value: unknown): void {
  const name = typeof value === "string" ? value : "";
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function commonest(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].sort(([left, many], [right, more]) => more - many || (left < right ? -1 : 1)).slice(0, VALUES_MAX);
}
