// Finds secrets in recorded entries: which entry, and which kind of secret, never the secret itself.

import { lastingKinds } from "../../model/body.js";
import { isJsonObject, parseJsonObject } from "../../model/json.js";
import type { Mask } from "../../model/mask.js";
import type { EntryLog, StoredBody } from "../port.js";
import { walkBodies } from "../walk-log.js";

export interface SecretFinding {
  readonly position: number;
  readonly id: string;
  readonly kind: string;
  readonly session_id: string;
  readonly created_at: string;
  /** Names of the matching rules, such as `github_token`. */
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
  if (text === undefined || lastingKinds.includes(kind)) return [];
  const body = parseJsonObject(text);
  if (body === undefined) return [];
  const secrets = new Set<string>();
  collect(body, mask.value(body), { mask, secrets });
  if (secrets.size === 0) return [];
  const { id = "", session_id = "", created_at = recorded_at } = body as { readonly [name: string]: string };
  return [{ position, id, kind, session_id: mask.text(session_id), created_at, secrets: [...secrets].sort() }];
}

interface Search {
  readonly mask: Mask;
  readonly secrets: Set<string>;
}

/** Compares a value with its masked form: secrets recognised only by their field name show up there. */
function collect(value: unknown, masked: unknown, search: Search): void {
  if (typeof value === "string") collectText(value, masked, search);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, (masked as readonly unknown[])[index], search);
  } else if (isJsonObject(value)) {
    const shown = Object.values(masked as object);
    for (const [index, [key, item]] of Object.entries(value).entries()) {
      collectText(key, key, search);
      collect(item, shown[index], search);
    }
  }
}

function collectText(text: string, masked: unknown, { mask, secrets }: Search): void {
  const spans = mask.find(text);
  for (const { rule } of spans) secrets.add(rule);
  if (spans.length > 0 || text === masked) return;
  for (const [, rule = ""] of String(masked).matchAll(/\[masked:(\w+)\]/g)) secrets.add(rule);
}
