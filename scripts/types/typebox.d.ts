// What the package's types need of typebox, in place of its hundreds of files of types: which values a schema describes.
export * as Type from "./typebox.js";

/** A schema of `T`. Only the compiler sees its properties. */
interface SchemaOf<T> {
  readonly "~type": T;
}
/** Whose type is stated, and does not follow from its parts. */
export interface TUnsafe<T> extends SchemaOf<T> {
  readonly "~stated": true;
}
export type TSchema = SchemaOf<unknown>;
export type Static<S extends TSchema> = S["~type"];

export type TString = SchemaOf<string>;
export type TNumber = SchemaOf<number>;
export type TInteger = SchemaOf<number>;
export type TBoolean = SchemaOf<boolean>;
export type TLiteral<T> = SchemaOf<T>;
export type TArray<S extends TSchema> = SchemaOf<Static<S>[]>;
export type TUnion<S extends TSchema[]> = SchemaOf<Static<S[number]>>;

export type TOptional<S extends TSchema> = S & { readonly "~optional": true };
export type TProperties = { [name: string]: TSchema };
export type TObject<P extends TProperties = TProperties> = SchemaOf<
  Flat<{ [K in RequiredOf<P>]: Static<P[K]> } & { [K in Exclude<keyof P, RequiredOf<P>>]?: Static<P[K]> }>
>;

type RequiredOf<P extends TProperties> = {
  [K in keyof P]: P[K] extends { readonly "~optional": true } ? never : K;
}[keyof P];
type Flat<T> = { [K in keyof T]: T[K] };
