// A peer that keeps the messages of conversations in a SQLite file: VoltAgent's memory on libSQL. It is fetched when a
// benchmark first needs it, into a folder of its own, since its packages are many times those of Hansard.
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ensureDependencies } from "../scripts/dependencies.mjs";
import { repositoryRoot } from "../scripts/repository-root.mjs";
import type { KeptMessage } from "./raw-messages.js";

const PEER = "@voltagent/libsql";
const USER = "bench";

/** What is used of its package. */
export interface Peer {
  readonly LibSQLMemoryAdapter: new (options: { readonly url: string }) => Memory;
}

interface Memory {
  createConversation(conversation: {
    readonly id: string;
    readonly resourceId: string;
    readonly userId: string;
    readonly title: string;
    readonly metadata: object;
  }): Promise<unknown>;
  addMessages(messages: readonly PeerMessage[], user: string, conversation: string): Promise<void>;
  getMessages(user: string, conversation: string, options: { readonly limit: number }): Promise<readonly PeerMessage[]>;
  queryConversations(options: { readonly userId: string; readonly limit: number }): Promise<readonly object[]>;
}

export interface PeerMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly { readonly type: "text"; readonly text: string }[];
}

export class PeerMessages {
  readonly name = "VoltAgent";
  readonly #memory: Memory;

  private constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** A file with these messages, in this order. */
  static async filled(peer: Peer, path: string, messages: readonly KeptMessage[]): Promise<PeerMessages> {
    const memory = new peer.LibSQLMemoryAdapter({ url: `file:${path}` });
    for (const id of new Set(messages.map(({ session_id }) => session_id))) {
      await memory.createConversation({ id, resourceId: "bench", userId: USER, title: `About ${id}`, metadata: {} });
    }
    // One by one: it orders messages by the millisecond in which they were added.
    for (const [nth, { session_id, role, content }] of messages.entries()) {
      const message = { id: `message-${nth}`, role, parts: [{ type: "text", text: content }] } as const;
      await memory.addMessages([message], USER, session_id);
    }
    return new PeerMessages(memory);
  }

  /** The newest messages of a session, oldest first. */
  last(session_id: string, limit: number): Promise<readonly PeerMessage[]> {
    return this.#memory.getMessages(USER, session_id, { limit });
  }

  sessions(limit: number): Promise<readonly object[]> {
    return this.#memory.queryConversations({ userId: USER, limit });
  }
}

/** Rejects where it cannot be installed: a comparison without it would be none. */
export async function loadPeer(): Promise<Peer> {
  const folder = join(repositoryRoot, "node_modules", ".cache", "hansard-peers");
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    copyFileSync(join(repositoryRoot, "bench", "peers", file), join(folder, file));
  }
  try {
    await ensureDependencies(folder, () =>
      process.stderr.write(`Installing ${PEER}, which is compared with (350 MB, in ${folder}).\n`),
    );
  } catch (cause) {
    throw new Error(`This benchmark compares with ${PEER}, which could not be installed.`, { cause });
  }
  const environment = process.env.NODE_ENV;
  // Anywhere else it asks the network for a list of models as soon as it is loaded.
  process.env.NODE_ENV = "production";
  try {
    return createRequire(join(folder, "package.json"))(PEER);
  } finally {
    if (environment === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = environment;
  }
}
