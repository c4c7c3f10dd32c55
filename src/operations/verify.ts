// Verification: whether every entry is as it was recorded.
import { Type } from "typebox";
import { count, named, oneOf, schemaOf, text } from "../model/schema.js";
import type { Verification } from "../model/verification.js";
import { operation } from "./operation.js";

const knownHead = named(
  "KnownHead",
  Type.Object({ by: oneOf(["index", "seal"]), log_id: text, position: count, hash: text }),
);

const warnings = Type.Optional(
  Type.Array(oneOf(["trigger_missing"]), {
    description: "Findings that do not prove tampering; absent if none.",
  }),
);

const verification = {
  title: "Verification",
  oneOf: [
    Type.Object({ ok: Type.Literal(true), entries: count, erased: count, position: count, hash: text, warnings }),
    Type.Object({
      ok: Type.Literal(false),
      position: count,
      reason: text,
      known: Type.Optional(knownHead),
      holders: Type.Optional(
        Type.Array(count, { description: "If the damaged part is shared: all entries that use it." }),
      ),
      warnings,
    }),
  ],
};

export const verify = operation({
  name: "verify",
  tag: "Store",
  summary: "Verify that no entry was changed",
  description:
    "Walks the whole chain of hashes and names the first position that was changed, removed or swapped. If the chain " +
    "is intact, but the log lacks entries that its index or this server's newest seal contains, `reason` is `cut_off`, " +
    "and `known` says what is missing.",
  scope: "read",
  route: "GET /verify",
  tools: [],
  command: undefined,
  input: {},
  positional: [],
  output: schemaOf<Verification>(verification),
  missing: undefined,
  refusals: ["store_failed"],
  reads_all: true,
  needs: "store",
  answer: (store) => store.verify(),
});
