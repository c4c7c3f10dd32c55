// `itemAt` returns an item of the list, and throws if there is none.
import { expect, test } from "vitest";
import { itemAt } from "./item-at.js";

test("an existing item is returned, even if it is undefined", () => {
  expect(itemAt(["a", "b"], 1)).toBe("b");
  expect(itemAt([undefined], 0)).toBeUndefined();
});

test.each([-1, 2, 0.5, Number.NaN])("item %d of two is a bug", (index) => {
  expect(() => itemAt(["a", "b"], index)).toThrow(`no item ${index} in a list of 2`);
});
