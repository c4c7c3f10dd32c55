// The hash chain by a worked example with all its bytes, which another program can check.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { chainHash, commitmentOf, GENESIS_HASH, SALT_BYTES } from "./chain.js";

const salt = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
const body = Buffer.from('{"id":"first","error":"disk on fire 🔥"}', "utf8");
const link = {
  previous: GENESIS_HASH,
  position: 1,
  kind: "error",
  recorded_at: "2026-11-15T06:39:37.123Z",
  commitment: commitmentOf(salt, body),
};

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

test("a worked example", () => {
  const commitment = link.commitment.toString("hex");
  expect(commitment).toBe("4ee92a8cf03461e831e47d10c5a787b5c5cf7e6d37a0bfa3416ca08b6f42bdad");
  const first = chainHash(link);
  expect(first.toString("hex")).toBe("c3777056e19644e0ad765afc040fc783b9a28ba0ae6bc0eca28fb151b066b3cf");
  const second = chainHash({ ...link, previous: first, position: 2, kind: "clear" });
  expect(second.toString("hex")).toBe("ab5d10fee7387e73cf79dd059937662f5e3c660d633e27fee70b19cdc898ddd7");
});

test("the commitment is SHA-256 of sixteen bytes of salt and the body", () => {
  expect(SALT_BYTES).toBe(16);
  expect(commitmentOf(salt, body).toString("hex")).toBe(sha256(salt, body));
  expect(commitmentOf(salt, new Uint8Array()).toString("hex")).toBe(sha256(salt));
});

test("the hash is SHA-256 of the previous hash, three lines and the commitment", () => {
  const lines = "1\nerror\n2026-11-15T06:39:37.123Z\n";
  expect(chainHash(link).toString("hex")).toBe(sha256(new Uint8Array(32), lines, link.commitment));
});

describe("a different hash follows from a different", () => {
  const other = Buffer.alloc(32, 1);
  test.each([
    ["previous hash", { previous: other }],
    ["position", { position: 2 }],
    ["kind", { kind: "errors" }],
    ["kind in letters with the same low bytes", { kind: "\u0165\u0172\u0172\u016f\u0172" }],
    ["time", { recorded_at: "2026-11-15T06:39:37.124Z" }],
    ["time in digits with the same low bytes", { recorded_at: "\u0132026-11-15T06:39:37.123Z" }],
    ["commitment", { commitment: other }],
  ])("%s", (_, change) => {
    expect(chainHash({ ...link, ...change }).toString("hex")).not.toBe(chainHash(link).toString("hex"));
  });
});

test("large positions are written in full", () => {
  const position = 9_007_199_254_740_991;
  const expected = sha256(new Uint8Array(32), `${position}\nerror\n${link.recorded_at}\n`, link.commitment);
  expect(chainHash({ ...link, position }).toString("hex")).toBe(expected);
});
