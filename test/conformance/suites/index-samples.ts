// Rows for the suite of the index, and what an index has to answer for them, computed in the plainest way there is.
import type {
  EntryRow,
  IndexDocument,
  Reference,
  ReferenceCondition,
  RowCounts,
  RowFilter,
  RowKey,
} from "../../../src/index/port.js";
import { seededRandom } from "./seeded-random.js";

export function newRow(position: number, parts: Partial<EntryRow> = {}): EntryRow {
  return {
    position,
    kind: "interaction",
    created_ms: position * 1_000,
    session_id: "",
    project: "",
    client: "",
    references: [],
    ...parts,
  };
}

export function newDocument(key: string, sort: number, parts: Partial<IndexDocument> = {}): IndexDocument {
  return { collection: "made", key, sort, position: 1, labels: [], body: { key }, ...parts };
}

export function memory(reference: string): Reference {
  return { what: "memory", reference };
}

export function chunk(reference: string): Reference {
  return { what: "chunk", reference };
}

export function lacking(reference: Reference): ReferenceCondition {
  return { ...reference, lacks: true };
}

const kinds = ["interaction", "interaction", "response", "message", "error"];
const sessions = ["", "s:1", "S:1", "s/1"];
const projects = ["", "atlas", "Atlas"];
const clients = ["", "cli", "naïve-客户"];
const roles = ["user", "assistant", "system"];
const names = ["m1", "m2", "1"];

/** Rows that repeat times, labels and references often, so every filter selects some and every tie occurs. */
export function mixedRows(count: number, seed: number): readonly EntryRow[] {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const some = (): readonly string[] => names.filter(() => random() < 0.3);
  const interactions: number[] = [];
  return Array.from({ length: count }, (_, index) => {
    const position = index + 1;
    const about = interactions.length > 0 ? pick(interactions) : undefined;
    const drawn = pick(kinds);
    const kind = drawn === "response" && about === undefined ? "interaction" : drawn;
    if (kind === "interaction") interactions.push(position);
    const uses = kind === "interaction" || kind === "response";
    return {
      position,
      kind,
      created_ms: 1_000 * Math.floor(random() * (count / 4)),
      session_id: pick(sessions),
      project: pick(projects),
      client: pick(clients),
      references: uses ? [...some().map(memory), ...some().map(chunk)] : [],
      ...(kind === "response" && about !== undefined ? { about } : {}),
      ...(kind === "message" ? { role: pick(roles) } : {}),
    };
  });
}

/** Each filter with the values worth trying; undefined stands for no filter. */
export const filterValues: { readonly [N in keyof Required<RowFilter>]: readonly RowFilter[N][] } = {
  kinds: [undefined, ["interaction"], ["error", "message"], []],
  session_id: [undefined, "s:1", ""],
  project: [undefined, "Atlas", "", ["Atlas", ""]],
  client: [undefined, "naïve-客户", ""],
  since_ms: [undefined, 20_000],
  until_ms: [undefined, 50_000],
  references: [
    undefined,
    [memory("m1")],
    [lacking(chunk("1"))],
    [memory("m1"), lacking(memory("m2")), chunk("1")],
    [{ ...memory("m1"), or: [memory("m2")] }],
  ],
  role: [undefined, "user"],
};

/** Every combination of filter values. */
export function filterCombinations(): readonly RowFilter[] {
  let filters: readonly RowFilter[] = [{}];
  for (const [name, values] of Object.entries(filterValues)) {
    filters = filters.flatMap((filter) =>
      values.map((value) => (value === undefined ? filter : { ...filter, [name]: value })),
    );
  }
  return filters;
}

export function expectedKeys(rows: readonly EntryRow[], filter: RowFilter): readonly RowKey[] {
  return rows
    .filter((row) => isSelected(row, rows, filter))
    .toSorted((left, right) => right.created_ms - left.created_ms || right.position - left.position)
    .map(({ created_ms, position }) => ({ created_ms, position }));
}

function isSelected(row: EntryRow, rows: readonly EntryRow[], filter: RowFilter): boolean {
  const has = ({ what, reference }: Reference): boolean =>
    rows.some(
      (sayer) =>
        (sayer.about ?? sayer.position) === row.position &&
        sayer.references.some((said) => said.what === what && said.reference === reference),
    );
  return (
    (filter.kinds?.includes(row.kind) ?? true) &&
    row.session_id === (filter.session_id ?? row.session_id) &&
    [filter.project ?? row.project].flat().includes(row.project) &&
    [filter.client ?? row.client].flat().includes(row.client) &&
    row.created_ms >= (filter.since_ms ?? row.created_ms) &&
    row.created_ms <= (filter.until_ms ?? row.created_ms) &&
    (filter.role === undefined || row.role === filter.role) &&
    (filter.references ?? []).every(
      (condition) => [condition, ...(condition.or ?? [])].some(has) !== (condition.lacks === true),
    )
  );
}

export function expectedCounts(rows: readonly EntryRow[]): RowCounts {
  const times = rows.map((row) => row.created_ms);
  const projectNames = [...new Set(rows.map((row) => row.project))].toSorted();
  return {
    entries: rows.length,
    by_kind: Object.fromEntries(
      [...new Set(rows.map((row) => row.kind))].map((kind) => [kind, rows.filter((row) => row.kind === kind).length]),
    ),
    projects: projectNames
      .map((project) => ({ project, entries: rows.filter((row) => row.project === project).length }))
      .toSorted((left, right) => right.entries - left.entries),
    ...(rows.length === 0 ? {} : { first_ms: Math.min(...times), last_ms: Math.max(...times) }),
  };
}
