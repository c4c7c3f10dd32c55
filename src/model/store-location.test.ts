// Store locations are recognised, and shown without their password.
import { expect, test } from "vitest";
import { displayLocation, isDatabaseAddress } from "./store-location.js";

test("addresses of PostgreSQL are distinguished from folders", () => {
  expect(["postgres://h/d", "postgresql://h/d", "POSTGRES://h"].map(isDatabaseAddress)).toEqual([true, true, true]);
  expect(["record", "./postgres", "memory:", "postgres:/x"].map(isDatabaseAddress)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("a password is never shown, wherever it is in the address", () => {
  expect(displayLocation("postgres://ada:secret@db:5432/log")).toBe("postgres://ada:***@db:5432/log");
  expect(displayLocation("postgres://db/log?user=ada&password=secret")).not.toContain("secret");
  expect(displayLocation("postgres://ada:se%cret@[db/log")).not.toContain("cret");
  expect(displayLocation("./record")).toBe("./record");
});
