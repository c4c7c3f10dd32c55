// Shorthands for schemas that many answers share. TypeBox's schemas are plain JSON Schema with their types.
import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";

/** The type of an answer, read-only. */
export type AnswerOf<S extends TSchema> = S extends TUnsafe<infer T> ? T : DeepReadonly<Static<S>>;

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? number extends T["length"]
    ? readonly DeepReadonly<E>[]
    : T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** What a schema describes, as input: read-only, and optional properties may be undefined. */
export type GivenIn<S extends TSchema> = Lenient<Static<S>>;

type Lenient<T> = T extends readonly (infer E)[]
  ? readonly Lenient<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Lenient<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;

/** A schema with a name in OpenAPI and in tools. */
export function named<P extends TProperties>(title: string, schema: TObject<P>): TObject<P> {
  return { ...schema, title } as TObject<P>;
}

/** A schema with a name in OpenAPI, made from the table of kinds. */
export function schemaNamed<T>(name: string) {
  return Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` });
}

/** The same schema under several names. */
export function each<N extends string, S extends TSchema>(names: readonly N[], schema: S): { readonly [K in N]: S } {
  return Object.fromEntries(names.map((name) => [name, schema])) as { readonly [K in N]: S };
}

/** A schema whose type is defined elsewhere, such as entries. */
export function schemaOf<T>(schema: TSchema): TUnsafe<T> {
  return Type.Unsafe<T>(schema);
}

/** A schema by its name, such as those made from the table of kinds. */
export function referenceTo<T>(name: string): TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` });
}

/** One of several strings. */
export function oneOf<const T extends string>(texts: readonly T[], more: { readonly description?: string } = {}) {
  return Type.Unsafe<T>({ type: "string", enum: texts, ...more });
}

/** A count for each name. */
export const counts = Type.Unsafe<{ readonly [name: string]: number }>({
  type: "object",
  additionalProperties: { type: "integer", minimum: 0 },
});
export const count = Type.Integer({ minimum: 0 });
export const text = Type.String();
export const date = Type.String({ format: "date" });
export const time = Type.String({ format: "date-time" });

/** The end of every page of a list; `partial` is present only while it is true. */
export const pageEnd = {
  next_cursor: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Leads to the next page; null on the last one.",
  }),
  partial: Type.Optional(
    Type.Unsafe<true>({ const: true, description: "The index is being rebuilt, and older entries may be missing." }),
  ),
};
