// The outline at the side of a session: its turns with failures and cost, compactions, child sessions and changed files.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { getOutline, type OutlineAnswer } from "../api.js";
import { firstLine, formatCost, formatCount, formatTokens, plural } from "../format.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";
import { type OutlineRow, outlineRows, turnRowAt } from "../transcript/outline.js";

const ROW_PX = 28;
const TITLE_CHARS = 120;

interface RailProps {
  readonly id: string;
  /** Changes when the session has more to outline; undefined until that is known. */
  readonly version: string | undefined;
  /** The position of what is being read. */
  readonly reading: number;
  jump(position: number): void;
}

export function OutlineRail({ id, version, reading, jump }: RailProps) {
  const { value, error, reload } = useRequest(
    async (signal) => (version === undefined ? undefined : getOutline(id, signal)),
    [id, version],
  );
  return (
    <nav className="rail" id="outline" aria-label="Turns">
      {value !== undefined && <Rows outline={value} reading={reading} jump={jump} />}
      {value !== undefined && <ChangedFiles outline={value} jump={jump} />}
      {value === undefined && error !== undefined && (
        <p className="aside">
          The outline could not be read.{" "}
          <button type="button" className="plain" onClick={reload}>
            Try again
          </button>
        </p>
      )}
    </nav>
  );
}

interface RowsProps {
  readonly outline: OutlineAnswer;
  readonly reading: number;
  jump(position: number): void;
}

function Rows({ outline, reading, jump }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => outlineRows(outline), [outline]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const current = useMemo(() => turnRowAt(rows, reading), [rows, reading]);
  useEffect(() => {
    if (current !== -1) list.scrollToIndex(current, { align: "auto" });
  }, [current, list]);
  const drawn = list.getVirtualItems();
  // One row can be reached by Tab, the others from it by the arrow keys.
  const reachable = drawn.some(({ index }) => index === current) ? current : drawn[0]?.index;
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = (event.target as HTMLElement).closest("[data-row]")?.getAttribute("data-row");
    if (by === undefined || from === null || from === undefined) return;
    event.preventDefault();
    const next = scroller.current?.querySelector<HTMLElement>(`[data-row="${Number(from) + by}"] a`);
    next?.focus();
  };
  if (rows.length === 0) return <p className="aside">No turns yet</p>;
  return (
    <div className="rail-rows" ref={scroller}>
      <ol style={{ height: list.getTotalSize() }} onKeyDown={move}>
        {drawn.map(({ index, start }) => (
          <li
            key={index}
            data-row={index}
            aria-posinset={index + 1}
            aria-setsize={rows.length}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Row
              row={rows[index] as OutlineRow}
              isCurrent={index === current}
              isReachable={index === reachable}
              jump={jump}
            />
          </li>
        ))}
      </ol>
    </div>
  );
}

interface RowProps {
  readonly row: OutlineRow;
  readonly isCurrent: boolean;
  readonly isReachable: boolean;
  jump(position: number): void;
}

function Row({ row, isCurrent, isReachable, jump }: RowProps) {
  const common = {
    tabIndex: isReachable ? 0 : -1,
    href: `#${row.position}`,
    onClick: (event: MouseEvent) => leadTo(event, row.position, jump),
  };
  switch (row.is) {
    case "turn":
      return (
        <a {...common} aria-current={isCurrent ? "location" : undefined}>
          <span className="number">{row.number}</span>
          <span className="words" dir="auto">
            {firstLine(row.prompt, TITLE_CHARS) || "No text"}
          </span>
          <Failed count={row.failures} />
          <span className="cost">{row.cost > 0 && formatCost(row.cost)}</span>
        </a>
      );
    case "break":
      return (
        <a {...common} className="break">
          {breakWords(row.entry)}
        </a>
      );
    case "child":
      return (
        <Link to={to(["sessions", row.session.session_id])} tabIndex={common.tabIndex}>
          <span className="number" aria-hidden="true">
            ▸
          </span>
          <span className="words" dir="auto">
            <span className="only-read">Subagent: </span>
            {firstLine(row.session.title, TITLE_CHARS) || row.session.session_id}
          </span>
          <Failed count={row.session.failures} />
          <span className="cost">{(row.session.cost_total ?? 0) > 0 && formatCost(row.session.cost_total ?? 0)}</span>
        </Link>
      );
  }
}

function Failed({ count }: { readonly count: number }) {
  return (
    <span className="cross" title={count === 0 ? undefined : plural(count, "failure")}>
      {count > 0 && (
        <>
          <span aria-hidden="true">✗</span>
          <span className="only-read">{formatCount(count)} failed</span>
        </>
      )}
    </span>
  );
}

function breakWords({ kind, tokens_before = 0 }: OutlineAnswer["breaks"][number]): string {
  if (kind === "clear") return "context cleared";
  return tokens_before > 0 ? `compacted at ${formatTokens(tokens_before)}` : "compacted";
}

/** A plain click leads there in this page; others do what links do. */
function leadTo(event: MouseEvent, position: number, jump: (position: number) => void): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  jump(position);
}

/** Folded; a file leads to the call that touched it last. */
function ChangedFiles({ outline, jump }: Omit<RowsProps, "reading">) {
  const [isOpen, setOpen] = useState(false);
  const changed = outline.files.filter(({ writes }) => writes > 0);
  if (changed.length === 0) return null;
  return (
    <details className="rail-files" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Files changed <span className="quiet">{formatCount(changed.length)}</span>
      </summary>
      {isOpen && (
        <ul>
          {changed.map(({ path, writes, last_position }) => (
            <li key={path}>
              <a href={`#${last_position}`} title={path} onClick={(event) => leadTo(event, last_position, jump)}>
                <span className="words" dir="auto">
                  {path.slice(path.lastIndexOf("/") + 1)}{" "}
                  <span className="quiet">{path.slice(0, Math.max(0, path.lastIndexOf("/")))}</span>
                </span>
                {writes > 1 && <span className="cost">{formatCount(writes)} edits</span>}
              </a>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
