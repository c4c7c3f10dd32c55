// Seals: what is signed, what is accepted as a seal, and where the key is stored.

import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { itemAt } from "../../model/item-at.js";
import type { Seal } from "../../model/verification.js";
import { newestSeal, parseSeals, sealFlaw, sealHead } from "./seal.js";
import { defaultSealKeyPath, findSealKey, openSealKey } from "./seal-key.js";

const { privateKey: key } = generateKeyPairSync("ed25519");
const head = { log_id: "log", position: 7, hash: new Uint8Array(32).fill(1) };
const seal = sealHead(head, { key, nowMs: Date.UTC(2026, 10, 15) });

test("a new seal is valid, also when it is read back from its text, with and without the key", () => {
  expect(sealFlaw(seal, key)).toBeUndefined();
  expect(sealFlaw(seal, createPublicKey(key))).toBeUndefined();
  expect(sealFlaw(itemAt(parseSeals(JSON.stringify(seal)) as readonly Seal[], 0), undefined)).toBeUndefined();
});

test.each([
  { log_id: "other" },
  { position: 8 },
  { hash: "00".repeat(32) },
  { sealed_at: "2026-11-16T00:00:00.000Z" },
  { signature: "00".repeat(64) },
])("a seal in which %o was changed has a wrong signature", (change) => {
  expect(sealFlaw({ ...seal, ...change }, key)).toBe("the signature of the seal is wrong");
});

test("a seal by another key is distinguished from a forged one", () => {
  const other = sealHead(head, { key: generateKeyPairSync("ed25519").privateKey, nowMs: 0 });
  expect(sealFlaw(other, key)).toBe("the seal was made with another key");
  expect(sealFlaw({ ...other, public_key: seal.public_key }, key)).toBe("the signature of the seal is wrong");
});

test.each([
  ...["", "not json", "[]", "null", '"text"', 12, undefined, {}, { ...seal, hansard_seal: 2 }, { ...seal, log_id: 1 }],
  ...[
    { ...seal, position: -1 },
    { ...seal, position: 1.5 },
    { ...seal, hash: "zz" },
    { ...seal, sealed_at: "now" },
  ],
  ...[
    { ...seal, public_key: seal.public_key.slice(2) },
    { ...seal, signature: `${seal.signature}00` },
  ],
])("%j is refused as a seal", (given) => {
  expect(parseSeals(given)).toMatchObject({ code: "seal_invalid", field: "against" });
});

test("of many seals, one per line, the newest of the log counts, in any order", () => {
  const at = (position: number, log_id = "log") =>
    sealHead({ ...head, position, log_id }, { key, nowMs: 1_000 - position });
  const text = [at(7), at(90, "other"), at(12), at(3)].map((one) => `${JSON.stringify(one)}\n\n`).join("");
  const seals = parseSeals(text) as readonly [Seal, ...Seal[]];
  expect(seals).toHaveLength(4);
  expect(newestSeal(seals, "log")).toEqual(at(12));
  expect(newestSeal(seals, "third")).toEqual(at(90, "other"));
  expect(parseSeals(JSON.stringify(seal, null, 2))).toEqual([seal]);
});

test("a line that is not a seal is named", () => {
  const text = `${JSON.stringify(seal)}\n{"hansard_seal":1}\n`;
  expect(parseSeals(text)).toMatchObject({
    code: "seal_invalid",
    message: "line 2: this is not a seal: log_id is missing",
  });
});

describe("the key", () => {
  test("is in the user's configuration folder; a relative XDG_CONFIG_HOME is ignored", () => {
    expect(defaultSealKeyPath({ home: "/h" })).toBe("/h/.config/hansard/seal-key.pem");
    expect(defaultSealKeyPath({ home: "/h", config_home: "/c" })).toBe("/c/hansard/seal-key.pem");
    expect(defaultSealKeyPath({ home: "/h", config_home: "c" })).toBe("/h/.config/hansard/seal-key.pem");
  });

  test("is created on first use, readable only by its owner, and stays the same", () => {
    const folder = folderOfTest();
    const path = join(folder, "config", "hansard", "seal-key.pem");
    expect(findSealKey(path)).toBeUndefined();
    const made = openSealKey(path, { data: join(folder, "data") });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "config", "hansard")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, "config", "hansard"))).toEqual(["seal-key.pem"]);
    expect(openSealKey(path, { data: join(folder, "data") }).equals(made)).toBe(true);
  });

  test("is refused inside the data folder", () => {
    const data = folderOfTest();
    expect(() => openSealKey(join(data, "sub", "key.pem"), { data })).toThrow(/is inside the data folder/);
    expect(existsSync(join(data, "sub"))).toBe(false);
  });

  test("that is not a key, or of another kind, is a fault that says so, and is not overwritten", () => {
    const path = join(folderOfTest(), "key.pem");
    for (const text of [
      "",
      "hello",
      generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }),
    ]) {
      writeFileSync(path, text);
      expect(() => openSealKey(path, { data: "memory:" })).toThrow(/is not a/);
      expect(readFileSync(path, "utf8")).toBe(text.toString());
    }
  });

  test("that cannot be created is a fault that names its path", () => {
    const folder = join(folderOfTest(), "file");
    mkdirSync(folder);
    chmodSync(folder, 0o700);
    writeFileSync(join(folder, "plain"), "");
    expect(() => openSealKey(join(folder, "plain", "key.pem"), { data: "memory:" })).toThrow(/plain/);
  });
});
