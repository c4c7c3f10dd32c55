// One entry, whole.
import type { Entry, ErasedEntry } from "../model/entry.js";
import { referenceTo, schemaOf } from "../model/schema.js";
import { switchParameter } from "../search/parameters.js";
import { entryRef } from "./ids.js";
import { operation } from "./operation.js";

export const getEntry = operation({
  name: "getEntry",
  tag: "Entries",
  summary: "Get one entry, whole",
  description: "By its id or its position. For an erased entry: what is left.",
  scope: "read",
  route: "GET /entries/:id",
  tools: [
    {
      name: "get_entry",
      title: "One entry, whole",
      description: "Gets an entry by its id or position. A long entry comes in parts of its JSON text.",
      in_parts: true,
    },
  ],
  command: {
    operands: [{ name: "<id|position>", parameter: "id", description: "the entry's id, or its position in the log" }],
    examples: [
      ["the first entry of the log", "hansard show 1"],
      ["one field of an entry", "hansard show 019a85d2-7c1e-7000-8000-000000000001 --json | jq -r .response"],
    ],
  },
  input: { id: entryRef, masked: switchParameter({ description: "`1` masks secrets, as lists do." }) },
  positional: ["id"],
  output: schemaOf<Entry | ErasedEntry>({ oneOf: [referenceTo("Entry"), referenceTo("ErasedEntry")] }),
  missing: "entry",
  refusals: [],
  needs: "log",
  async answer({ entries, mask }, { id, masked }) {
    const entry = await entries.get(id);
    return entry === undefined || !masked ? entry : mask.entry(entry);
  },
});
