// What an import asks about sessions that are in the store already: whether an older version brought them, and that a newer
// derivation replaces what they hold.

import { hash } from "node:crypto";
import { IMPORT_DERIVATION, type ImportedSessions, isImportId } from "../import/again.js";
import type { AuditNote } from "../log/audit.js";
import type { ImportOutcome } from "../log/capture/import-writer.js";
import { REPLACED } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import { isJsonObject } from "../model/json.js";
import { formatTime } from "../model/time.js";
import type { methodsBy } from "./operation-methods.js";

const PAGE = 500;

export function importedSessions(parts: {
  readonly find: (claims: readonly string[]) => Promise<readonly (number | undefined)[]>;
  readonly operations: Pick<ReturnType<typeof methodsBy>, "getSession" | "listSessionEntries">;
  readonly note: (note: AuditNote) => Promise<void>;
  readonly append: (entries: readonly unknown[]) => Promise<readonly ImportOutcome[]>;
}): ImportedSessions {
  const { operations } = parts;
  return {
    async older(session_id) {
      const [replaced] = await parts.find([idClaim(noteId(session_id))]);
      if (replaced !== undefined) return { is_replaced: true };
      const session = await operations.getSession(session_id);
      const source = session?.metadata.source;
      // Sessions of other origin name no importer.
      if (session === undefined || !isJsonObject(source) || typeof source.tool !== "string") return undefined;
      const isOlder = typeof source.derivation !== "number" || source.derivation < IMPORT_DERIVATION;
      return isOlder ? { through_ms: Date.parse(session.last_at) } : undefined;
    },

    async replace(session_id) {
      const replaced: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await operations.listSessionEntries(session_id, {
          limit: PAGE,
          ...(cursor === undefined ? {} : { cursor }),
        });
        for (const entry of page.entries) {
          const isDerived = "extra" in entry && entry.extra.derivation === IMPORT_DERIVATION;
          if (!isDerived && isImportId(entry.id)) replaced.push(entry.position);
        }
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      const target = hash("sha256", session_id);
      await parts.note({ action: REPLACED, actor: "import", target, id: noteId(session_id), extra: { replaced } });
    },

    async noteLoss({ session_id, paths, how, seen_ms, read_ms }) {
      const session = await operations.getSession(session_id);
      // What was forgotten must not begin again.
      if (session === undefined) return false;
      const { source, source_deleted_at: noted } = session.metadata;
      const path = isJsonObject(source) ? source.path : undefined;
      // A fork's file holds entries of the session that it was copied from.
      if (typeof path === "string" && !paths.includes(path)) return false;
      if (typeof noted === "string" && Date.parse(noted) > read_ms) return false;
      const source_deleted_at = formatTime(seen_ms);
      const outcomes = await parts.append([
        {
          kind: "session_info",
          id: `source-loss:${hash("sha256", JSON.stringify([session_id, source_deleted_at])).slice(0, 32)}`,
          session_id,
          // Nothing happened in the session: it keeps its place in lists.
          created_at: session.last_at,
          project: session.projects[0] ?? "",
          client: session.clients[0] ?? "",
          metadata: { source_deleted_at, source_loss: how },
        },
      ]);
      return outcomes.some((outcome) => "isNew" in outcome && outcome.isNew);
    },
  };
}

/** One note for each session and derivation. */
function noteId(session_id: string): string {
  return `${REPLACED}:${IMPORT_DERIVATION}:${hash("sha256", session_id).slice(0, 32)}`;
}
