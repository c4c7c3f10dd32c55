// Fields of other programs' records, which hold whatever they like.
import type { JsonObject } from "../../model/json.js";

/** The text of a field; undefined where it is empty or no text. */
export function textAt(record: JsonObject, name: string): string | undefined {
  const value = record[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
