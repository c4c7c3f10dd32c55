// What an import asks about sessions that are in the store already: whether an older version brought them, and that a newer
// derivation replaces what they hold.

import { hash } from "node:crypto";
import { IMPORT_DERIVATION, type ImportedSessions, isImportId } from "../import/again.js";
import type { AuditNote } from "../log/audit.js";
import { REPLACED } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import { isJsonObject } from "../model/json.js";
import type { methodsBy } from "./operation-methods.js";

const PAGE = 500;

export function importedSessions(parts: {
  readonly find: (claims: readonly string[]) => Promise<readonly (number | undefined)[]>;
  readonly operations: Pick<ReturnType<typeof methodsBy>, "getSession" | "listSessionEntries">;
  readonly note: (note: AuditNote) => Promise<void>;
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
  };
}

/** One note for each session and derivation. */
function noteId(session_id: string): string {
  return `${REPLACED}:${IMPORT_DERIVATION}:${hash("sha256", session_id).slice(0, 32)}`;
}
