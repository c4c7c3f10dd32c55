// The doctor's messages for states that are hard to produce in a test: full disks, old programs, locked files.
import { describe, expect, test } from "vitest";
import type { FileFacts } from "../engines/port.js";
import { diagnose, type StoreFacts } from "./doctor.js";

const file: FileFacts = {
  path: "/record/log.db",
  state: "current",
  reason: "",
  bytes: 4096,
  wal_bytes: 0,
  mode: 0o600,
  is_writable: true,
  is_locked: false,
  version: 1,
  version_known: 1,
  position: 7,
  heads: [],
};

const sound: StoreFacts = {
  node_version: "20.19.0",
  folder: { path: "/record", state: "there", reason: "", mode: 0o700, is_writable: true },
  disk_free_bytes: 50 * 1024 ** 3,
  log: file,
  index: { ...file, path: "/record/index.db" },
  has_keys: false,
  contradiction: undefined,
  clients: undefined,
  comparison: { differences: [] },
  chain: { ok: true, entries: 7, erased: 0, position: 7, hash: "00" },
};

function troubles(facts: Partial<StoreFacts>) {
  return diagnose({ ...sound, ...facts }).findings.filter(({ level }) => level !== "ok");
}

test("an intact store has only ok findings", () => {
  expect(diagnose(sound).ok).toBe(true);
  expect(troubles({})).toEqual([]);
});

test("every finding that is not ok says what to do", () => {
  const states = ["missing", "unreadable", "empty", "not_a_database", "foreign", "newer", "older", "damaged"] as const;
  for (const state of states) {
    for (const facts of [{ log: { ...file, state } }, { index: { ...file, state } }]) {
      for (const finding of troubles(facts)) expect(finding.hint, finding.message).toMatch(/\w/);
    }
  }
});

describe("levels", () => {
  test.each([
    ["Node that is too old", { node_version: "18.20.1" }, "fail node"],
    ["Node of a later line", { node_version: "22.0.0" }, undefined],
    ["a disk that fills up", { disk_free_bytes: 100 * 1024 ** 2 }, "warn disk"],
    ["a disk that is full", { disk_free_bytes: 4096 }, "fail disk"],
    ["a WAL that is never folded in", { log: { ...file, wal_bytes: 1024 ** 3 } }, "warn log"],
    ["a log of an older version", { log: { ...file, state: "older" }, chain: undefined }, "warn log"],
    ["a log that may not be written", { log: { ...file, is_writable: false } }, "fail log"],
    ["an index that may not be written", { index: { ...file, is_writable: false } }, "fail index"],
    ["an index that lags", { index: { ...file, position: 1 } }, undefined],
    ["an index of another version", { index: { ...file, state: "newer" } }, undefined],
    ["an index that knows too much", { index: { ...file, position: 8 }, contradiction: "cut off" }, "fail evidence"],
    ["an index that differs", { comparison: { differences: ["1 row is not"] } }, "fail index"],
    ["an index that cannot be compared", { comparison: { failure: "disk I/O error" } }, "warn index"],
    ["a store that never rests", { comparison: { differences: [], is_unsettled: true } }, "warn index"],
    ["clients without a gap", { clients: { runs: 2, gaps: [] } }, undefined],
    ["a gap of a client", { clients: { runs: 1, gaps: [{ client_run: "r", missing: [[2, 3]] }] } }, "warn clients"],
    ["a chain that cannot be read", { chain: { failure: "disk I/O error" } }, "fail chain"],
    ["a folder that cannot be looked into", { folder: { ...sound.folder, state: "unreadable" } }, "fail folder"],
  ] as const)("%s", (_, facts, expected) => {
    const [first] = troubles(facts);
    expect(first && `${first.level} ${first.check}`).toBe(expected);
    expect(diagnose({ ...sound, ...facts }).ok).toBe(expected?.startsWith("fail") !== true);
  });
});
