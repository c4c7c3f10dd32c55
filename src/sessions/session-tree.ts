// What the tree of a session answers: schema and types in one.
import { Type } from "typebox";
import { type AnswerOf, count, named, referenceTo, text } from "../model/schema.js";

const nullable = { anyOf: [{ type: "number" }, { type: "null" }] };
const cost = Type.Unsafe<number | null>({
  ...nullable,
  description: "In US dollars; null where no price is known.",
});

export interface TreeNode {
  readonly entry_id: string;
  readonly session_id?: string;
  readonly kind: string;
  readonly title: string;
  readonly duration_ms: number | null;
  readonly tokens: number;
  readonly cost: number | null;
  readonly total: { readonly duration_ms: number; readonly tokens: number; readonly cost: number | null };
  readonly children: readonly TreeNode[];
}

const treeNode = named(
  "TreeNode",
  Type.Object({
    entry_id: Type.String({ description: "Of a child session: its first entry." }),
    session_id: Type.Optional(Type.String({ description: "Of a child session." })),
    kind: Type.String({ description: "The entry's kind, or `session` for a child session." }),
    title: text,
    duration_ms: Type.Unsafe<number | null>({ ...nullable, description: "Its own; null where it is not recorded." }),
    tokens: Type.Integer({ minimum: 0, description: "Input and output of the call to a model that it is." }),
    cost,
    total: Type.Object(
      { duration_ms: Type.Number({ minimum: 0 }), tokens: count, cost },
      { description: "Its own and those of everything below it, added up." },
    ),
    children: Type.Array(referenceTo<TreeNode>("TreeNode")),
  }),
);

export type SessionTree = AnswerOf<typeof sessionTree>;
export const sessionTree = named(
  "SessionTree",
  Type.Object({
    roots: Type.Array(treeNode),
    is_cut: Type.Optional(
      Type.Unsafe<true>({
        const: true,
        description:
          "There is more than a tree holds: it has the first 10,000 entries, 1,000 sessions, or 128 Mi characters.",
      }),
    ),
  }),
);
