// What a filter can ask of references: what rows carry, and nothing else.
import { expectTypeOf } from "vitest";
import type { EntryRow, Reference, RowFilter } from "../../src/index/port.js";
import type { Mark } from "../../src/model/states.js";

expectTypeOf<EntryRow["references"]>().toEqualTypeOf<readonly Reference[]>();
expectTypeOf<Extract<Reference, { readonly what: "is" }>["reference"]>().toEqualTypeOf<Mark>();

export const filter: RowFilter = {
  references: [
    { what: "model", reference: "m" },
    { what: "is", reference: "answered", lacks: true },
  ],
};
// @ts-expect-error No row refers to a flavour.
export const unknownReference: RowFilter = { references: [{ what: "flavour", reference: "sour" }] };
// @ts-expect-error No row has this mark.
export const unknownMark: RowFilter = { references: [{ what: "is", reference: "sour" }] };
// @ts-expect-error Only a context pack is looked for by `has`.
export const unknownThing: RowFilter = { references: [{ what: "has", reference: "sour" }] };
