// Reflection over entries at hand, as tests want it.
import type { Entry, EntryOf } from "../../src/model/entry.js";
import type { ReflectionReport } from "../../src/model/report.js";
import { Reflection, type ReflectionSettings } from "../../src/reflect/reflection.js";

/** In whatever order they come; `before` are those that came before the reviewed ones, `dislikes` go by entries' ids. */
export function reflect(
  entries: readonly Entry[],
  options: ReflectionSettings & {
    readonly before?: readonly Entry[];
    readonly dislikes?: ReadonlyMap<string, readonly EntryOf<"feedback">[]>;
  } = {},
): ReflectionReport {
  const reflection = new Reflection(options);
  for (const entry of newestFirst(entries)) reflection.add(entry, options.dislikes?.get(entry.id));
  for (const entry of newestFirst(options.before ?? [])) reflection.addBefore(entry);
  return reflection.finish();
}

function newestFirst(entries: readonly Entry[]): readonly Entry[] {
  return [...entries].sort((left, right) => {
    if (left.created_at !== right.created_at) return left.created_at < right.created_at ? 1 : -1;
    return right.position - left.position;
  });
}
