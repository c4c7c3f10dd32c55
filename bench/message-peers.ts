// The least that reading messages can cost: plain tables of SQLite, prepared statements, and one JSON.parse per message.

import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ensureDependencies } from "../scripts/dependencies.mjs";
import { repositoryRoot } from "../scripts/repository-root.mjs";
import { Database, type Statement } from "../src/engines/sqlite/driver.js";

/** A message as every store of the benchmark is given it. */
export interface KeptMessage {
  readonly session_id: string;
  readonly role: string;
  readonly content: string;
}

const TABLES = `
  CREATE TABLE messages (
    position INTEGER PRIMARY KEY, created_ms INTEGER NOT NULL, session_id TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX messages_by_session ON messages (session_id, position);
  CREATE INDEX messages_by_time ON messages (created_ms, position);
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, title TEXT NOT NULL, metadata TEXT NOT NULL, labels TEXT NOT NULL,
    first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, last_position INTEGER NOT NULL, messages INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_by_newest ON sessions (last_position);
  CREATE VIRTUAL TABLE texts USING fts5 (content);
`;
const START_MS = Date.UTC(2026, 0, 1);

interface SessionRow {
  readonly metadata: string;
  readonly labels: string;
}

export class RawMessages {
  readonly #db: Database;
  readonly #last: Statement<string>;
  readonly #newest: Statement<string>;
  readonly #sessions: Statement<SessionRow>;
  readonly #search: Statement<{ readonly body: string; readonly snippet: string }>;

  constructor(path: string, messages: readonly KeptMessage[]) {
    this.#db = new Database(path);
    this.#db.pragma("journal_mode = WAL");
    this.#db.exec(TABLES);
    this.#db.transaction(() => this.#fill(messages));
    this.#last = this.#db
      .prepare<string>("SELECT body FROM messages WHERE session_id = ? ORDER BY position DESC LIMIT ?")
      .pluck();
    this.#newest = this.#db
      .prepare<string>("SELECT body FROM messages ORDER BY created_ms DESC, position DESC LIMIT ?")
      .pluck();
    this.#sessions = this.#db.prepare("SELECT * FROM sessions ORDER BY last_position DESC LIMIT ?");
    this.#search = this.#db.prepare(`
      SELECT body, snippet(texts, 0, '[', ']', '…', 16) AS snippet
      FROM texts JOIN messages ON messages.position = texts.rowid
      WHERE texts MATCH ? ORDER BY texts.rowid DESC LIMIT ?`);
  }

  /** The newest messages of a session, oldest first. */
  last(session_id: string, limit: number): readonly KeptMessage[] {
    return this.#last.all(session_id, limit).map(toMessage).reverse();
  }

  /** The newest messages of all sessions, newest first. */
  newest(limit: number): readonly KeptMessage[] {
    return this.#newest.all(limit).map(toMessage);
  }

  sessions(limit: number): readonly object[] {
    return this.#sessions
      .all(limit)
      .map((row) => ({ ...row, metadata: JSON.parse(row.metadata), labels: JSON.parse(row.labels) }));
  }

  /** Messages that hold the word, newest first. */
  search(word: string, limit: number): readonly object[] {
    return this.#search.all(`"${word}"`, limit).map(({ body, snippet }) => ({ message: toMessage(body), snippet }));
  }

  close(): void {
    this.#db.close();
  }

  #fill(messages: readonly KeptMessage[]): void {
    const insert = this.#db.prepare("INSERT INTO messages VALUES (?, ?, ?, ?)");
    const insertText = this.#db.prepare("INSERT INTO texts (rowid, content) VALUES (?, ?)");
    const insertSession = this.#db.prepare(`
      INSERT INTO sessions VALUES ($session_id, $title, '{}', '["bench"]', $ms, $ms, $position, 1)
      ON CONFLICT DO UPDATE SET last_ms = $ms, last_position = $position, messages = messages + 1`);
    for (const [nth, message] of messages.entries()) {
      const { session_id } = message;
      const [position, ms] = [nth + 1, START_MS + nth];
      insert.run(position, ms, session_id, JSON.stringify(message));
      insertText.run(position, message.content);
      insertSession.run({ session_id, title: `About ${session_id}`, ms, position });
    }
  }
}

function toMessage(body: string): KeptMessage {
  return JSON.parse(body) as KeptMessage;
}

const PEER = "@voltagent/libsql";
const USER = "bench";

/** What is used of its package. */
interface Peer {
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

interface PeerMessage {
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
