// What a mask remembers: entries without a secret are not looked through again, and nothing else is passed over.
import { expect, test } from "vitest";
import { type Mask, noMask } from "../model/mask.js";
import { knowingClean } from "./known-clean.js";

function counting(): { readonly mask: Mask; readonly looked: () => number } {
  let looked = 0;
  const entry = <E extends object>(given: E): E => {
    looked += 1;
    return JSON.stringify(given).includes("secret") ? { ...given, content: "[masked]" } : given;
  };
  return { mask: knowingClean({ ...noMask, entry: entry as Mask["entry"] }), looked: () => looked };
}

const message = (position: number, content: string): object => ({ kind: "message", position, content });

test("an entry without a secret is looked through once, one with a secret each time", () => {
  const { mask, looked } = counting();
  for (let nth = 0; nth < 3; nth += 1) {
    expect(mask.entry(message(7, "harmless"))).toEqual(message(7, "harmless"));
    expect(mask.entry(message(70_000, "a secret"))).toEqual(message(70_000, "[masked]"));
  }
  expect(looked()).toBe(4);
});

test("neighbours do not share what is known of them", () => {
  const { mask } = counting();
  mask.entry(message(32, "harmless"));
  for (const position of [0, 1, 31, 33, 64]) {
    expect(mask.entry(message(position, "a secret"))).toEqual(message(position, "[masked]"));
  }
});

test("what is shown in two forms, or has no place, is looked through each time", () => {
  const { mask, looked } = counting();
  for (const kind of ["interaction", "response"]) {
    mask.entry({ kind, position: 3, prompt: "harmless" });
    expect(mask.entry({ kind, position: 3, response: "a secret" })).toMatchObject({ content: "[masked]" });
  }
  mask.entry({ session_id: "s" });
  mask.entry({ session_id: "s" });
  expect(looked()).toBe(6);
});
