// Proves that a place is recognised, and shown without its secret.
import { expect, test } from "vitest";
import { isDatabaseAddress, shownPlace } from "./data-address.js";

test("addresses of PostgreSQL are told from folders", () => {
  expect(["postgres://h/d", "postgresql://h/d", "POSTGRES://h"].map(isDatabaseAddress)).toEqual([true, true, true]);
  expect(["record", "./postgres", "memory:", "postgres:/x"].map(isDatabaseAddress)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("a password is never shown, wherever it stands in the address", () => {
  expect(shownPlace("postgres://ada:secret@db:5432/log")).toBe("postgres://ada:***@db:5432/log");
  expect(shownPlace("postgres://db/log?user=ada&password=secret")).not.toContain("secret");
  expect(shownPlace("postgres://ada:se%cret@[db/log")).not.toContain("cret");
  expect(shownPlace("./record")).toBe("./record");
});
