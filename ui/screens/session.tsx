// One session: its transcript as a column of speech, with a map of the whole beside it.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Refused } from "../api.js";
import { useKeys } from "../keys.js";
import { useTitle } from "../labels.js";
import { Marks } from "../marks.js";
import { THROUGH_ALL } from "../parts/entry-line.js";
import { FindBar } from "../parts/find-bar.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { Propose } from "../parts/propose.js";
import { SessionHead } from "../parts/session-head.js";
import { SessionMap } from "../parts/session-map.js";
import { TranscriptLine } from "../parts/transcript-line.js";
import { go, Link, type Place, to, withQuery } from "../router.js";
import { matchBeyond, useFound } from "../transcript/finding.js";
import { useFollowing } from "../transcript/following.js";
import { isTurn, type Line } from "../transcript/lines.js";
import { useSession } from "../transcript/loading.js";

const LINE_PX = 72;

export function SessionScreen({ id, place }: { readonly id: string; readonly place: Place }) {
  const target = positionOf(place.hash);
  const { session, transcript, entries, isWhole, error, again } = useSession(id, target);
  const { lines, lineByPosition, notables, scoreById } = transcript;
  const q = place.query.get("q") ?? "";
  const found = useFound(id, q);
  const title = useTitle({ session_id: id, title: session?.title ?? "" });
  const scroller = useRef<HTMLElement>(null);
  const [here, setHere] = useState<number | undefined>(target);
  const [start] = useState(target);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());

  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 6,
    getItemKey: useCallback((at: number) => (lines[at] as Line).key, [lines]),
    // Where the middle is read first, the beginning comes later, and may not push away what is being read.
    anchorTo: start === undefined ? "start" : "end",
  });
  const fresh = useFollowing({ list, count: entries, isWhole });

  const show = useCallback(
    (at: number): void => {
      const line = lines[at];
      if (line === undefined) return;
      setHere(line.key);
      list.scrollToIndex(at, { align: "center" });
      go(`${location.pathname}${location.search}#${line.key}`, { replace: true });
    },
    [lines, list],
  );

  // When the place that the address names is there. The list takes some frames to go to a line and knows it by its number,
  // which changes as what came before is read: until the reader moves it is told anew.
  const shown = useRef({ hash: "", at: -1 });
  const hasMoved = useRef(false);
  const moves = useCallback((): void => {
    hasMoved.current = true;
  }, []);
  useEffect(() => {
    // An entry that is not here, of another session or still to come, is looked for where it would stand.
    if (target === undefined) return;
    const at = lineByPosition.get(target) ?? (isWhole ? nearest(lines, target) : -1);
    if (at === -1) return;
    const isAnother = shown.current.hash !== place.hash;
    if (isAnother) hasMoved.current = false;
    else if (hasMoved.current || shown.current.at === at) return;
    shown.current = { hash: place.hash, at };
    if (isAnother) setHere((lines[at] as Line).key);
    list.scrollToIndex(at, { align: "center" });
  }, [target, lineByPosition, lines, isWhole, list, place.hash]);

  const at = useMemo(() => (here === undefined ? -1 : lines.findIndex(({ key }) => key === here)), [here, lines]);
  /** The next line of these, in one direction, from where the reader is. */
  const jump = (candidates: readonly number[], by: 1 | -1): void => {
    const from = at === -1 ? (list.range?.startIndex ?? 0) - by : at;
    const next = by === 1 ? candidates.find((each) => each > from) : candidates.findLast((each) => each < from);
    if (next !== undefined) show(next);
    else if (candidates === matches && place.query.get("through") === "all") void goBeyond(by);
  };
  /** On through the results of the search that led here. */
  const goBeyond = async (by: 1 | -1): Promise<void> => {
    const beyond = await matchBeyond({ q, session_id: id, by }).catch(() => undefined);
    if (beyond !== undefined) go(to(["sessions", beyond.session_id], { q, ...THROUGH_ALL }, String(beyond.position)));
  };
  const said = useMemo(() => lines.flatMap(({ is }, each) => (is === "day" ? [] : [each])), [lines]);
  const turns = useMemo(() => lines.flatMap((line, each) => (isTurn(line) ? [each] : [])), [lines]);
  const errors = useMemo(() => notables.flatMap(({ line, what }) => (what === "decision" ? [] : [line])), [notables]);
  const matches = useMemo(() => {
    const rows = found.positions.map((position) => lineByPosition.get(position));
    return [...new Set(rows.filter((row) => row !== undefined))].sort((one, other) => one - other);
  }, [found.positions, lineByPosition]);
  const isMatch = useMemo(() => new Set(matches), [matches]);
  const sought = q === "" ? errors : matches;
  const toggle = useCallback((key: number): void => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);

  useKeys({
    j: () => jump(said, 1),
    k: () => jump(said, -1),
    "]": () => jump(turns, 1),
    "[": () => jump(turns, -1),
    e: () => jump(errors, 1),
    E: () => jump(errors, -1),
    n: () => jump(sought, 1),
    N: () => jump(sought, -1),
    p: () => jump(sought, -1),
    o: () => here !== undefined && toggle(here),
    Enter: () => here !== undefined && toggle(here),
    c: () => here !== undefined && toggle(-here),
    f: () => document.querySelector<HTMLInputElement>("#find")?.focus(),
    y: () => void navigator.clipboard.writeText(location.href),
    G: () => show(lines.length - 1),
    "g g": () => show(said[0] ?? 0),
    Escape: () => q !== "" && withQuery({ q: "", through: "" }),
  });

  if (error instanceof Refused && error.code === "session_not_found") {
    return (
      <Empty title="This session isn’t in this store.">
        <p>
          <code dir="auto">{id}</code> was never recorded here, or it was deleted.
        </p>
        <p>
          <Link to={to(["sessions"])}>All sessions</Link>
        </p>
      </Empty>
    );
  }
  return (
    <Marks sought={q}>
      <div className="session">
        <div className="session-top">
          <SessionHead id={id} title={title} session={session} />
          <FindBar
            q={q}
            count={found.count}
            busy={found.busy}
            at={matches.indexOf(at) + 1}
            previous={() => jump(matches, -1)}
            next={() => jump(matches, 1)}
          />
        </div>
        {error !== undefined && <Failed error={error} again={again} />}
        {lines.length === 0 && error === undefined && <Loading what="Reading the session" />}
        <div
          className="session-body"
          onWheel={moves}
          onTouchMove={moves}
          onPointerDownCapture={moves}
          onKeyDownCapture={moves}
        >
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard. */}
          <section ref={scroller} className="transcript" aria-label="Transcript" tabIndex={0}>
            <div className="transcript-height" style={{ height: list.getTotalSize() }}>
              {list.getVirtualItems().map((item) => {
                const line = lines[item.index] as Line;
                return (
                  <div
                    key={item.key}
                    ref={list.measureElement}
                    data-index={item.index}
                    className="transcript-place"
                    style={{ transform: `translateY(${item.start}px)` }}
                  >
                    <TranscriptLine
                      line={line}
                      isHere={line.key === here}
                      isOpen={opened.has(line.key)}
                      isContextOpen={opened.has(-line.key)}
                      toggle={toggle}
                      isMatch={isMatch.has(item.index)}
                      scoreById={scoreById}
                    />
                  </div>
                );
              })}
            </div>
          </section>
          <Propose project={session?.projects[0] ?? ""} />
          {fresh > 0 && (
            <button type="button" className="fresh at-end" onClick={() => show(lines.length - 1)}>
              {fresh} new
            </button>
          )}
          <SessionMap
            count={lines.length}
            notables={notables}
            matches={matches}
            range={list.range ?? { startIndex: 0, endIndex: 0 }}
            isWhole={isWhole}
            show={(index) => list.scrollToIndex(index, { align: "center" })}
          />
        </div>
      </div>
    </Marks>
  );
}

/** The position that an address names, where it names one. */
function positionOf(hash: string): number | undefined {
  const position = /^\d+$/.test(hash) ? Number(hash) : undefined;
  return Number.isSafeInteger(position) ? position : undefined;
}

/** The last line that begins before a position, else the first; -1 where there is none. */
function nearest(lines: readonly Line[], position: number): number {
  const said = (line: Line): boolean => line.is !== "day";
  const before = lines.findLastIndex((line) => said(line) && line.key <= position);
  return before === -1 ? lines.findIndex(said) : before;
}
