// One session: its transcript, with a map of the whole session at the side.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { ApiError, type Session } from "../api.js";
import { plural } from "../format.js";
import { HighlightProvider } from "../highlight.js";
import { useKeys } from "../keyboard.js";
import { sessionTitle } from "../labels.js";
import { THROUGH_ALL } from "../parts/entry-line.js";
import { FindBar, matchInOtherSession, useFind } from "../parts/find-bar.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { OutlineRail } from "../parts/outline-rail.js";
import { ProposeMemory } from "../parts/propose-memory.js";
import { SessionHead } from "../parts/session-head.js";
import { FolderContext } from "../parts/tool-calls.js";
import { TranscriptLine } from "../parts/transcript-line.js";
import { Link, navigate, type Route, setQuery, to } from "../router.js";
import { isTurn, type Line, type Transcript } from "../transcript/lines.js";
import { useSession } from "../transcript/loading.js";

const LINE_PX = 72;

export function SessionScreen({ id, place }: { readonly id: string; readonly place: Route }) {
  const target = positionOf(place.hash);
  const { session, transcript, entries, isWhole, error, reload } = useSession(id, target);
  const { lines, lineByPosition, notables, scoreById } = transcript;
  const q = place.query.get("q") ?? "";
  const found = useFind(id, q);
  const title = session === undefined ? id : sessionTitle(session);
  const folder = typeof session?.metadata.cwd === "string" ? session.metadata.cwd : "";
  const isGone = error instanceof ApiError && error.code === "session_not_found";
  useTabTitle(session === undefined || isGone ? undefined : title);
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
    // If loading starts in the middle, what is prepended later must not move the text being read.
    anchorTo: start === undefined ? "start" : "end",
  });
  const fresh = useFollowEnd({ list, count: entries, isWhole });

  const shown = useRef({ hash: "", at: -1 });
  const show = useCallback(
    (at: number, align: "center" | "start" = "center"): void => {
      const line = lines[at];
      if (line === undefined) return;
      setHere(line.key);
      shown.current = { hash: String(line.key), at };
      list.scrollToIndex(at, { align });
      navigate(`${location.pathname}${location.search}#${line.key}`, { replace: true });
    },
    [lines, list],
  );

  // Scrolls to the linked entry once it is loaded. Scrolling takes several frames, and the line's index changes as
  // earlier entries load, so this repeats until the reader moves.
  const hasMoved = useRef(false);
  const moves = useCallback((): void => {
    hasMoved.current = true;
  }, []);
  useEffect(() => {
    // An entry that is not in this session leads to where it would be.
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

  const rail = useRail();
  /** Leads to a position, also to one that is not loaded yet. */
  const jumpTo = (position: number): void => {
    const line = lineByPosition.get(position) ?? (isWhole ? nearest(lines, position) : -1);
    if (line === -1) navigate(`${location.pathname}${location.search}#${position}`, { replace: true });
    else show(line, "start");
    if (!rail.isWide) rail.toggle();
  };
  const at = useMemo(() => (here === undefined ? -1 : lines.findIndex(({ key }) => key === here)), [here, lines]);
  /** Moves to the next or previous of these lines, from the current one. */
  const jump = (candidates: readonly number[], by: 1 | -1): void => {
    const from = at === -1 ? (list.range?.startIndex ?? 0) - by : at;
    const next = by === 1 ? candidates.find((each) => each > from) : candidates.findLast((each) => each < from);
    if (next !== undefined) show(next);
    else if (candidates === matches && place.query.get("through") === "all") void goToOtherSession(by);
  };
  /** Continues with the next session of the search that led here. */
  const goToOtherSession = async (by: 1 | -1): Promise<void> => {
    const otherMatch = await matchInOtherSession({ q, session_id: id, by }).catch(() => undefined);
    if (otherMatch !== undefined)
      navigate(to(["sessions", otherMatch.session_id], { q, ...THROUGH_ALL }, String(otherMatch.position)));
  };
  const contentLines = useMemo(() => lines.flatMap(({ is }, each) => (is === "day" ? [] : [each])), [lines]);
  const turns = useMemo(() => lines.flatMap((line, each) => (isTurn(line) ? [each] : [])), [lines]);
  const errors = useMemo(() => notables.flatMap(({ line, what }) => (what === "decision" ? [] : [line])), [notables]);
  const matches = useMemo(() => {
    const rows = found.positions.map((position) => lineByPosition.get(position));
    return [...new Set(rows.filter((row) => row !== undefined))].sort((one, other) => one - other);
  }, [found.positions, lineByPosition]);
  const isMatch = useMemo(() => new Set(matches), [matches]);
  const targets = q === "" ? errors : matches;
  const toggle = useCallback((key: number): void => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);

  useKeys({
    j: () => jump(contentLines, 1),
    k: () => jump(contentLines, -1),
    "]": () => jump(turns, 1),
    "[": () => jump(turns, -1),
    e: () => jump(errors, 1),
    E: () => jump(errors, -1),
    n: () => jump(targets, 1),
    N: () => jump(targets, -1),
    p: () => jump(targets, -1),
    o: () => here !== undefined && toggle(here),
    Enter: () => here !== undefined && toggle(here),
    c: () => here !== undefined && toggle(-here),
    f: () => document.querySelector<HTMLInputElement>("#find")?.focus(),
    y: () => void navigator.clipboard.writeText(location.href),
    G: () => show(lines.length - 1),
    "g g": () => show(contentLines[0] ?? 0),
    t: rail.toggle,
    Escape: () => {
      if (rail.isOpen && !rail.isWide) rail.toggle();
      else if (q !== "") setQuery({ q: "", through: "" });
    },
  });

  if (isGone) {
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
    <HighlightProvider query={q}>
      <FolderContext value={folder}>
        <div className="session">
          <div className="session-top">
            <SessionHead id={id} title={title} session={session}>
              <button
                type="button"
                className="plain"
                aria-expanded={rail.isOpen}
                aria-controls={rail.isOpen ? "outline" : undefined}
                onClick={rail.toggle}
              >
                Turns
              </button>
            </SessionHead>
            <FindBar
              q={q}
              count={found.count}
              busy={found.busy}
              at={matches.indexOf(at) + 1}
              previous={() => jump(matches, -1)}
              next={() => jump(matches, 1)}
            />
          </div>
          {error !== undefined && <Failed error={error} reload={reload} />}
          {lines.length === 0 && error === undefined && <Loading what="Reading the session" />}
          <div
            className="session-body"
            onWheel={moves}
            onTouchMove={moves}
            onPointerDownCapture={moves}
            onKeyDownCapture={moves}
          >
            {rail.isOpen && (
              <OutlineRail
                id={id}
                version={session && outlineVersion(session)}
                reading={readingPosition(lines, list.range, at)}
                jump={jumpTo}
              />
            )}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
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
            <ProposeMemory project={session?.projects[0] ?? ""} />
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
      </FolderContext>
    </HighlightProvider>
  );
}

/** Names the browser's tab after the session while it is shown. */
function useTabTitle(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined) return;
    const before = document.title;
    document.title = `${title} · Hansard`;
    return () => {
      document.title = before;
    };
  }, [title]);
}

/** The position in the address, if there is one. */
function positionOf(hash: string): number | undefined {
  const position = /^\d+$/.test(hash) ? Number(hash) : undefined;
  return Number.isSafeInteger(position) ? position : undefined;
}

/** Changes when there is more to outline. */
function outlineVersion({ turns, failures, files, children, cost_total }: Session): string {
  return [turns, failures, files, children, cost_total].join(" ");
}

/** The position of the current line while it is in view, else of the first line in view. */
function readingPosition(
  lines: readonly Line[],
  range: { readonly startIndex: number; readonly endIndex: number } | null,
  at: number,
): number {
  if (range === null) return 0;
  const isInView = at >= range.startIndex && at <= range.endIndex;
  return Math.abs(lines[isInView ? at : range.startIndex]?.key ?? 0);
}

const WIDE = matchMedia("(min-width: 1100px)");

/** Whether the outline is shown: on wide screens next to the transcript, on others over it when asked for. */
function useRail(): { readonly isOpen: boolean; readonly isWide: boolean; toggle(): void } {
  const [isWide, setWide] = useState(WIDE.matches);
  const [chosen, setChosen] = useState<{ readonly isWide: boolean; readonly isOpen: boolean }>();
  useEffect(() => {
    const changed = (): void => setWide(WIDE.matches);
    WIDE.addEventListener("change", changed);
    return () => WIDE.removeEventListener("change", changed);
  }, []);
  const isOpen = chosen?.isWide === isWide ? chosen.isOpen : isWide;
  return { isOpen, isWide, toggle: () => setChosen({ isWide, isOpen: !isOpen }) };
}

/** The last line at or before a position, else the first; -1 if there is none. */
function nearest(lines: readonly Line[], position: number): number {
  const isContent = (line: Line): boolean => line.is !== "day";
  const before = lines.findLastIndex((line) => isContent(line) && line.key <= position);
  return before === -1 ? lines.findIndex(isContent) : before;
}

const NEAR_END_PX = 120;

/** Follows new lines while the reader is at the end, otherwise counts them. */
function useFollowEnd(options: {
  readonly list: Virtualizer<HTMLElement, Element>;
  readonly count: number;
  /** Only entries after the initial load are new. */
  readonly isWhole: boolean;
}): number {
  const { list, count, isWhole } = options;
  const [seen, setSeen] = useState(count);
  const before = useRef(count);
  const isAtEnd = isWhole && list.isAtEnd(NEAR_END_PX);
  const wasAtEnd = useRef(isAtEnd);
  useEffect(() => {
    if (!isWhole || count === before.current) return;
    const isGrowing = before.current > 0;
    before.current = count;
    if (isGrowing && wasAtEnd.current) list.scrollToEnd();
  }, [count, isWhole, list]);
  const wasWhole = useRef(false);
  // Before painting: entries that arrive together with the end of the initial load are not new.
  useLayoutEffect(() => {
    if (isAtEnd || !wasWhole.current) setSeen(count);
    wasWhole.current = isWhole;
  }, [isAtEnd, isWhole, count]);
  // Runs after the effect above, which needs the value from before the new entries.
  useEffect(() => {
    wasAtEnd.current = isAtEnd;
  }, [isAtEnd]);
  return isWhole ? Math.max(0, count - seen) : 0;
}

const toneByNotable = { error: "--oxblood", unsure: "--ochre", decision: "--accent" } as const;
const MAP_WIDTH = 18;

/** The whole session in the margin: the visible part, errors, low confidence, decisions and matches. */
function SessionMap(options: {
  readonly count: number;
  readonly notables: Transcript["notables"];
  readonly matches: readonly number[];
  readonly range: { readonly startIndex: number; readonly endIndex: number };
  readonly isWhole: boolean;
  show(line: number): void;
}) {
  const { count, notables, matches, range, isWhole, show } = options;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const surface = canvas.current;
    if (surface === null) return;
    const draw = (): void => paint(surface, count, notables, matches);
    draw();
    const resized = new ResizeObserver(draw);
    resized.observe(surface);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", draw);
    };
  }, [count, notables, matches]);
  const point = (event: PointerEvent<HTMLElement>): void => {
    if (event.buttons !== 1) return;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    show(Math.max(0, Math.min(count - 1, Math.floor(((event.clientY - top) / height) * count))));
  };
  const share = (index: number): string => `${(index / Math.max(1, count)) * 100}%`;
  return (
    <div
      className="map"
      role="img"
      aria-label={`Map of the session: ${plural(notables.filter(({ what }) => what === "error").length, "error")}, ${plural(matches.length, "match", "matches")}`}
      data-whole={isWhole}
      onPointerDown={point}
      onPointerMove={point}
    >
      <canvas ref={canvas} />
      <span
        className="map-window"
        style={{ top: share(range.startIndex), height: share(range.endIndex - range.startIndex + 1) }}
      />
    </div>
  );
}

function paint(
  surface: HTMLCanvasElement,
  count: number,
  notables: Transcript["notables"],
  matches: readonly number[],
): void {
  const scale = devicePixelRatio;
  const height = surface.clientHeight;
  surface.width = MAP_WIDTH * scale;
  surface.height = height * scale;
  const drawing = surface.getContext("2d");
  if (drawing === null || count === 0) return;
  const computed = getComputedStyle(surface);
  const colour = (token: string): string => {
    surface.style.color = `var(${token})`;
    return computed.color;
  };
  drawing.scale(scale, scale);
  const markHeight = Math.max(2, Math.min(5, height / count));
  drawing.fillStyle = colour("--marked");
  for (const line of matches) drawing.fillRect(0, (line / count) * height, MAP_WIDTH, markHeight);
  for (const what of ["decision", "unsure", "error"] as const) {
    drawing.fillStyle = colour(toneByNotable[what]);
    for (const { line, what: its } of notables)
      if (its === what) drawing.fillRect(5, (line / count) * height, MAP_WIDTH - 5, markHeight);
  }
}
