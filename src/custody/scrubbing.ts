// Looking for secrets in what was recorded: which entries hold one, and of what sort, never the secret itself.
import { isJsonObject, type JsonObject } from "../model/json.js";
import { isReservedKind } from "../model/kinds.js";
import type { EntryLog, StoredBody } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { walkBodies } from "../ports/walk-log.js";

export interface SecretFinding {
  readonly position: number;
  readonly id: string;
  readonly kind: string;
  readonly session_id: string;
  readonly created_at: string;
  /** The names of the rules that found something, such as `github_token`. */
  readonly secrets: readonly string[];
}

export async function findSecrets(
  log: EntryLog,
  mask: Mask,
  range: { readonly after: number; readonly through: number },
): Promise<readonly SecretFinding[]> {
  const findings: SecretFinding[] = [];
  for await (const batch of walkBodies(log, range)) {
    findings.push(...batch.flatMap((stored) => findingIn(stored, mask)));
  }
  return findings;
}

function findingIn({ position, kind, recorded_at, body: text }: StoredBody, mask: Mask): readonly SecretFinding[] {
  if (text === undefined || isReservedKind(kind)) return [];
  const body = parsed(text);
  if (body === undefined) return [];
  const secrets = new Set<string>();
  collect(body, mask, secrets);
  if (secrets.size === 0) return [];
  const { id = "", session_id = "", created_at = recorded_at } = body as { readonly [name: string]: string };
  return [{ position, id, kind, session_id: mask.text(session_id), created_at, secrets: [...secrets].sort() }];
}

function collect(value: unknown, mask: Mask, secrets: Set<string>): void {
  if (typeof value === "string") for (const { rule } of mask.find(value)) secrets.add(rule);
  else if (Array.isArray(value)) for (const item of value) collect(item, mask, secrets);
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      collect(key, mask, secrets);
      collect(item, mask, secrets);
    }
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
