// An item that is there is answered, whatever it is, and one that is not stops the program.
import { expect, test } from "vitest";
import { itemAt } from "./item-at.js";

test("an item that is there is answered, even where it is undefined", () => {
  expect(itemAt(["a", "b"], 1)).toBe("b");
  expect(itemAt([undefined], 0)).toBeUndefined();
});

test.each([-1, 2, 0.5, Number.NaN])("item %d of two is a mistake of the program", (index) => {
  expect(() => itemAt(["a", "b"], index)).toThrow(`no item ${index} in a list of 2`);
});
