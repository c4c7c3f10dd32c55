// Claims and the keys they are stored under: hashes, except for UUIDs, so forgetting leaves nothing readable.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { claimKey, completionClaim, idClaim } from "./claims.js";

const uuid = "019a85d2-7c1e-7000-8000-00000000abcd";

test("a claim says what it is for", () => {
  expect(idClaim("a")).toBe("id:a");
  expect(completionClaim("a")).toBe("completes:a");
});

test("the key of a claim is its SHA-256, which does not reveal the id", () => {
  const key = claimKey(idClaim("customer-4711"));
  expect(key.toString("hex")).toBe(createHash("sha256").update("id:customer-4711").digest("hex"));
  expect(key.includes("4711")).toBe(false);
});

test("the key of a UUIDv7 id is its sixteen bytes", () => {
  expect(claimKey(idClaim(uuid)).toString("hex")).toBe(uuid.replaceAll("-", ""));
});

test.each([
  idClaim(uuid.toUpperCase()),
  idClaim("019a85d2-7c1e-4000-8000-00000000abcd"),
  completionClaim(uuid),
  `xx:${uuid}`,
])("other claims that contain a UUID are hashed: %s", (claim) => {
  expect(claimKey(claim)).toHaveLength(32);
});

test("claims are hashed as UTF-8, and different ones have different keys", () => {
  expect(claimKey("id:é").toString("hex")).toBe(createHash("sha256").update("id:é", "utf8").digest("hex"));
  const claims = ["id:a", "id:A", "completes:a", "id:a ", idClaim(uuid), completionClaim(uuid)];
  expect(new Set(claims.map((claim) => claimKey(claim).toString("hex"))).size).toBe(claims.length);
});
