// Capture through a server: parsed here, so errors are the same, and recorded there.

import { allows, type Scope } from "../../guard/scopes.js";
import type { Captured } from "../../log/capture/capture.js";
import { type CapturedItem, entriesMissing } from "../../log/capture/capture.js";
import { type GivenDraft, parseDraft } from "../../log/capture/draft.js";
import type { RecordedHooks } from "../../log/capture/recorded-hooks.js";
import type { CaptureKind, Entry } from "../../model/entry.js";
import { Fault, type FaultCode } from "../../model/fault.js";
import { itemAt } from "../../model/item-at.js";
import type { Mask } from "../../model/mask.js";
import { RecorderError, Rejection, reject } from "../../model/rejection.js";
import type { Health } from "../monitoring.js";
import { entryPath } from "./remote-reading.js";
import type { ServerConnection } from "./server-connection.js";

/** Such an entry exists already, with other content. */
const TAKEN = "id_conflict";

export class RemoteCapture {
  readonly #server: ServerConnection;
  readonly #redact: Mask | undefined;
  readonly #recorded: RecordedHooks;
  #mayRead = true;
  #isAdmitted = false;

  constructor(parts: {
    readonly server: ServerConnection;
    readonly redact?: Mask | undefined;
    readonly recorded: RecordedHooks;
  }) {
    this.#recorded = parts.recorded;
    this.#server = parts.server;
    this.#redact = parts.redact;
  }

  async record(given: unknown): Promise<readonly CapturedItem[] | Rejection> {
    if (!Array.isArray(given)) {
      const item = await this.appendOne(given);
      return item instanceof Rejection ? item : [item];
    }
    return given.length === 0 ? entriesMissing() : this.#append(given);
  }

  async appendOne(input: unknown, kindWhenAbsent?: CaptureKind): Promise<CapturedItem | Rejection> {
    const items = await this.#append([input], kindWhenAbsent);
    return items instanceof Rejection ? items.whole() : itemAt(items, 0);
  }

  /** What an import needs of a log, as far as a server provides it. */
  readonly imports = {
    // Only the server assigns positions, so an export gets new ones.
    head: () =>
      letIn(async () => {
        await this.#admit();
        const { position } = await this.#server.get<Health>("/health", ["position"]);
        return { log_id: this.#server.address, position };
      }),
    hashAt: (position: number) => letIn(() => this.#hashAt(position)),
    restore: async () => false,
    bodyAt: (position: number) => letIn(() => this.#server.findBytes(entryPath(position), "entry_not_found")),
    find: (ids: readonly string[]) => letIn(() => this.#find(ids)),
    // Only the server knows whether they are new, so they are looked up first.
    hintBulk: () => undefined,
    prepare: () => undefined,
    append: (entries: readonly unknown[]) => letIn(() => this.#appendEach(entries)),
  };

  /** A key that will be refused is refused before anything is read. */
  async #admit(): Promise<void> {
    if (this.#isAdmitted) return;
    const scope = await this.#server.get<{ readonly scope: Scope }>("/access", ["scope"]).then(
      (access) => access.scope,
      (error: unknown) => {
        // A capture key may not ask.
        if (error instanceof RecorderError && error.code === "scope_insufficient") return "capture" as const;
        throw error;
      },
    );
    if (!allows(scope, "capture")) {
      const message = `this needs a key of scope capture, and the one sent has ${scope}`;
      const hint = "`hansard keys create --scope capture` creates one, on the server's machine.";
      throw new RecorderError({ code: "scope_insufficient", message, hint });
    }
    this.#isAdmitted = true;
  }

  async #append(
    inputs: readonly unknown[],
    kindWhenAbsent?: CaptureKind,
  ): Promise<readonly CapturedItem[] | Rejection> {
    const drafts: GivenDraft[] = [];
    for (const [index, input] of inputs.entries()) {
      const draft = parseDraft(input, kindWhenAbsent);
      if (draft instanceof Rejection) return draft.at(index);
      drafts.push(draft);
    }
    try {
      const { entries: items } = await this.#server.post<{ readonly entries: readonly Captured[] }>(
        "/entries",
        ["entries"],
        { body: drafts.map((draft) => this.#entryOf(draft)) },
      );
      this.#recorded.tell(() =>
        drafts.flatMap((draft, index) => {
          const placed = items[index];
          return placed?.status === "recorded" ? [{ draft, placed }] : [];
        }),
      );
      return items.map((item, index) => {
        const unknown_fields = drafts[index]?.unknown_fields;
        return unknown_fields === undefined ? item : { ...item, unknown_fields };
      });
    } catch (error) {
      if (error instanceof RecorderError && error.index !== undefined) return reject(error);
      throw error;
    }
  }

  #entryOf({ kind, id, body }: GivenDraft): object {
    const shown = this.#redact === undefined ? body : this.#redact.entry(body);
    return { ...shown, kind, ...(id === undefined ? {} : { id }) };
  }

  /** The positions of entries with these ids. A key without read access cannot look them up: the server compares. */
  async #find(ids: readonly string[]): Promise<readonly (number | undefined)[]> {
    const positions: (number | undefined)[] = [];
    for (let at = 0; at < ids.length && this.#mayRead; at += FINDS_AT_ONCE) {
      const some = ids.slice(at, at + FINDS_AT_ONCE).map((id) => this.#findOne(id));
      positions.push(...(await Promise.all(some)));
    }
    return ids.map((_, at) => positions[at]);
  }

  /** Proof that the log is still the same one; without read access there is none. */
  async #hashAt(position: number): Promise<Uint8Array | undefined> {
    try {
      const entry = await this.#server.find<Entry>(entryPath(position), ["hash"], "entry_not_found");
      return entry && Buffer.from(entry.hash, "hex");
    } catch (error) {
      if (error instanceof RecorderError && error.code === "scope_insufficient") return undefined;
      throw error;
    }
  }

  async #findOne(id: string): Promise<number | undefined> {
    try {
      return (await this.#server.find<Entry>(entryPath(id), ["position"], "entry_not_found"))?.position;
    } catch (error) {
      if (!(error instanceof RecorderError) || error.code !== "scope_insufficient") throw error;
      this.#mayRead = false;
      return undefined;
    }
  }

  /** Appends all that can be, in order. A batch is all or none, so it is split at refused entries. */
  async #appendEach(
    entries: readonly unknown[],
  ): Promise<readonly ({ readonly position: number; readonly isNew: boolean } | { readonly reason: string })[]> {
    const items = await this.#append(entries);
    if (!(items instanceof Rejection)) {
      return items.map(({ status, position }) => ({ position, isNew: status === "recorded" }));
    }
    const { index = 0, code, message } = items;
    const isKnown = code === TAKEN && !this.#mayRead;
    const refused = isKnown ? { position: 0, isNew: false } : { reason: message };
    const before = index > 0 ? await this.#appendEach(entries.slice(0, index)) : [];
    const after = index + 1 < entries.length ? await this.#appendEach(entries.slice(index + 1)) : [];
    return [...before, refused, ...after];
  }
}

const FINDS_AT_ONCE = 16;

/** A refused key is an error of the call, not of a line: the remaining lines are still unread. */
async function letIn<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RecorderError) || !keyRefusals.has(error.code)) throw error;
    throw new Fault(error.code as FaultCode, error.message, { hint: error.hint ?? "", cause: error });
  }
}

const keyRefusals: ReadonlySet<string> = new Set(["key_missing", "key_wrong", "scope_insufficient", "rate_exceeded"]);
