// Forgetting in a store whose tables somebody has edited: the log alone decides what goes, and it always comes to an end.
import { describe, expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { engines } from "./intruder.js";

const reason = "the person asked us to";
const MARK = "mark7391";

async function opened(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

function said(session_id: string, nth: number, project = "atlas"): EntryInput {
  return { kind: "message", id: `${session_id}-${nth}`, session_id, project, role: "user", content: `${MARK} ${nth}` };
}

/** Six messages in two sessions of one project, and a project and session of its own behind them. */
const entries = [1, 2, 3, 4, 5, 6].map((nth) => said(nth % 2 === 0 ? "even" : "odd", nth));
const other = said("other", 7, "zebra");

async function bodiesLeft(recorder: Recorder): Promise<readonly number[]> {
  const left: number[] = [];
  for (let position = 1; position <= 7; position += 1) {
    const entry = await recorder.getEntry(position);
    if (entry !== undefined && !("erased" in entry)) left.push(position);
  }
  return left;
}

async function allText(recorder: Recorder): Promise<string> {
  const listed = await recorder.listEntries({ limit: 500 });
  const sessions = await recorder.listSessions({ limit: 500 });
  return JSON.stringify([listed, sessions, await recorder.search(MARK)]);
}

describe.each(engines)("on $engine", ({ intrude }) => {
  test("an entry whose row of the index is gone goes with its session, and nothing of it stays in the index", async () => {
    const { data, editIndex, index } = await intrude();
    const recorder = await opened(data);
    await recorder.append([...entries, other]);
    await recorder.append({ kind: "session_info", session_id: "odd", project: "atlas", title: "Title of odd" });
    expect((await recorder.search(MARK)).results).toHaveLength(7);
    await editIndex(`DELETE FROM ${index("rows")} WHERE position IN (3, 8)`);
    const forgotten = await recorder.forget({ session_id: "odd", reason });
    expect(forgotten).toMatchObject({ entries: 4, positions: [1, 3, 5, 8], left: [] });
    expect(await bodiesLeft(recorder)).toEqual([2, 4, 6, 7]);
    expect(await allText(recorder)).not.toMatch(/Title of odd|odd-|"odd"/);
    expect((await recorder.search(MARK)).results).toHaveLength(4);
    expect(await recorder.verify()).toMatchObject({ ok: true, erased: 4 });
  });

  test("feedback without an index row is forgotten with its entry, and so is feedback on it", async () => {
    const { data, editIndex, index } = await intrude();
    const recorder = await opened(data);
    await recorder.append([said("odd", 1), said("odd", 2)]);
    await recorder.feedback({ id: "thought", entry_id: "odd-1", score: -1, comment: `${MARK} thought` });
    await recorder.feedback({ id: "again", entry_id: "thought", score: 1, comment: `${MARK} again` });
    await recorder.feedback({ id: "stays", entry_id: "odd-2", score: -1 });
    expect((await recorder.search(MARK)).results).toHaveLength(4);
    await editIndex(`DELETE FROM ${index("rows")} WHERE position = 3`);
    await editIndex(`DELETE FROM ${index("documents")} WHERE collection = 'feedback'`);
    const planned = await recorder.forget({ entry: "odd-1", reason, dry_run: true });
    expect(planned).toMatchObject({ positions: [1, 3, 4], redaction: null });
    expect(await recorder.forget({ entry: "odd-1", reason })).toMatchObject({ positions: [1, 3, 4], left: [] });
    expect(await bodiesLeft(recorder)).toEqual([2, 5, 6, 7]);
    expect((await recorder.search(MARK)).results).toMatchObject([{ id: "odd-2" }]);
    expect((await recorder.listEntries({ is: "disliked" })).entries).toMatchObject([{ id: "odd-2" }]);
    expect(await recorder.verify()).toMatchObject({ ok: true, erased: 3 });
  });

  test("feedback that others give meanwhile goes too, as far as it came before the redaction", async () => {
    const { data } = await intrude();
    const [recorder, writer] = [await opened(data), await opened(data)];
    await recorder.append([...entries, other]);
    let isRefused = false;
    const writing = (async () => {
      while (!isRefused) {
        const given = writer.feedback({ entry_id: "odd-1", comment: `${MARK} thought` });
        await given.catch((error: unknown) => {
          expect(error).toMatchObject({ code: "entry_not_found" });
          isRefused = true;
        });
      }
    })();
    const forgotten = await recorder.forget({ entry: "odd-1", reason });
    await writing;
    const left = await recorder.listEntries({ kind: "feedback", limit: 500 });
    expect(left.entries.filter(({ position }) => position < (forgotten.redaction as number))).toEqual([]);
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });

  test("rows that say another session or project do not change what goes", async () => {
    const { data, editIndex, index } = await intrude();
    const recorder = await opened(data);
    await recorder.append([...entries, other]);
    await recorder.count();
    await editIndex(`UPDATE ${index("rows")} SET session_id = 'even' WHERE position = 1`);
    await editIndex(`UPDATE ${index("rows")} SET project = 'zebra' WHERE position = 2`);
    expect(await recorder.forget({ session_id: "odd", reason })).toMatchObject({ positions: [1, 3, 5] });
    await editIndex(`UPDATE ${index("rows")} SET project = 'zebra' WHERE position = 4`);
    expect(await recorder.forget({ project: "zebra", reason, dry_run: true })).toMatchObject({ positions: [7] });
    expect(await recorder.forget({ project: "atlas", reason })).toMatchObject({ positions: [2, 4, 6] });
    expect(await bodiesLeft(recorder)).toEqual([7]);
    const { sessions } = await recorder.listSessions({});
    expect(sessions).toMatchObject([{ session_id: "other", entries: 1 }]);
  });

  test("an entry whose row is gone is too old for retention all the same", async () => {
    const { data, editIndex, index } = await intrude();
    const recorder = await opened(data);
    const created_at = "2020-01-01T00:00:00.000Z";
    await recorder.append([...entries.map((entry) => ({ ...entry, created_at })), other]);
    await recorder.count();
    await editIndex(`DELETE FROM ${index("rows")} WHERE position = 2`);
    const { rules } = await recorder.retain({ rules: [{ older_than: "2021-01-01" }] });
    expect(rules).toMatchObject([{ positions: [1, 2, 3, 4, 5, 6] }]);
    expect(await bodiesLeft(recorder)).toEqual([7]);
  });

  test("a row planted among the erasures keeps nothing from being forgotten", async () => {
    const { data, editLog, log } = await intrude();
    const recorder = await opened(data);
    await recorder.append([...entries, other]);
    await editLog(`INSERT INTO ${log("erasures")} (position, redaction) VALUES (3, 2), (7, 900)`);
    expect(await recorder.forget({ session_id: "odd", reason })).toMatchObject({ positions: [1, 3, 5] });
    expect(await recorder.forget({ entry: 7, reason })).toMatchObject({ positions: [7] });
    expect(await bodiesLeft(recorder)).toEqual([2, 4, 6]);
    expect((await recorder.listEntries({ kind: "redaction" })).entries).toHaveLength(2);
  });

  test("an erased body that was put back can be forgotten again", async () => {
    const { data, editLog, log } = await intrude();
    const recorder = await opened(data);
    await recorder.append([...entries, other]);
    await editLog(`CREATE TABLE kept_aside AS SELECT * FROM ${log("bodies")} WHERE position = 3`);
    await recorder.forget({ entry: "odd-3", reason });
    await editLog(
      `DELETE FROM ${log("bodies")} WHERE position = 3; INSERT INTO ${log("bodies")} SELECT * FROM kept_aside; DROP TABLE kept_aside`,
    );
    expect(await bodiesLeft(recorder)).toContain(3);
    expect(await recorder.forget({ session_id: "odd", reason })).toMatchObject({ positions: [1, 3, 5] });
    expect(await bodiesLeft(recorder)).toEqual([2, 4, 6, 7]);
    expect((await recorder.listEntries({ kind: "redaction" })).entries).toHaveLength(2);
  });

  test("if something prevents erasure, that is a fault after one redaction, not a loop", async () => {
    const { data, editLog, log } = await intrude();
    const recorder = await opened(data);
    await recorder.append([...entries, other]);
    await editLog(keepBodies[log("bodies")] as string);
    const forgetting = recorder.forget({ session_id: "odd", reason });
    await expect(forgetting).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining("3") });
    expect((await recorder.listEntries({ kind: "redaction" })).entries.length).toBeLessThanOrEqual(1);
    expect(await bodiesLeft(recorder)).toContain(3);
  });

  test("what others record meanwhile goes too, as far as it came before the redaction", async () => {
    const { data } = await intrude();
    const [recorder, writer] = [await opened(data), await opened(data)];
    await recorder.append([...entries, other]);
    let isDone = false;
    const writing = (async () => {
      for (let nth = 100; !isDone; nth += 1) await writer.append([said("odd", nth), said("even", nth)]);
    })();
    await recorder.append({ kind: "interaction", id: "asked", session_id: "odd", prompt: "p" });
    const forgotten = await recorder.forget({ session_id: "odd", reason });
    isDone = true;
    await writing;
    const redaction = forgotten.redaction as number;
    const session = await recorder.listEntries({ session_id: "odd", limit: 500 });
    expect(session.entries.filter(({ position }) => position < redaction)).toEqual([]);
    for (const position of forgotten.positions) {
      expect(await recorder.getEntry(position)).toMatchObject({ erased: true });
    }
    const even = await recorder.listEntries({ session_id: "even", limit: 500 });
    expect(even.entries.length).toBeGreaterThanOrEqual(3);
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });
});

/** A trigger that lets a body be erased and puts it back at once, by the name of the table. */
const keepBodies: { readonly [table: string]: string } = {
  bodies: `CREATE TRIGGER hostile BEFORE UPDATE ON bodies WHEN OLD.position = 3 BEGIN SELECT RAISE(IGNORE); END`,
  hansard_bodies: `
    CREATE FUNCTION hostile() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF OLD.position = 3 THEN RETURN NULL; END IF; RETURN OLD; END';
    CREATE TRIGGER hostile BEFORE DELETE ON hansard_bodies FOR EACH ROW EXECUTE FUNCTION hostile()`,
};
