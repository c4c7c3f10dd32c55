// Tool calls, one line each; arguments and result open below. Long runs fold into one line.
import { createContext, useContext, useMemo, useState } from "react";
import { contentText, messageParts } from "../../src/model/content-parts.js";
import { firstLine, formatCount, formatDuration, plural, toText } from "../format.js";
import { Highlighted, useIsMatch } from "../highlight.js";
import { Link, to } from "../router.js";
import { findEdit, type Values } from "../transcript/edits.js";
import type { Call } from "../transcript/lines.js";
import { toolRow } from "../transcript/tool-rows.js";
import { CodeBlock, RecordedImage } from "./code-block.js";
import { useShowMore } from "./show-more.js";

/** Longer runs are folded. */
const RUN_MAX = 5;
/** How many calls of a run are shown at first. */
const DRAWN_FIRST = 100;
/** Longer results are not parsed as JSON. */
const JSON_CHARS_MAX = 200_000;

/** The folder that the session worked in; paths are shown from there. */
export const FolderContext = createContext("");

export function ToolCalls(options: {
  readonly calls: readonly Call[];
  readonly isOpen: boolean;
  /** Whether a match of the search is in these calls. */
  readonly isMatch: boolean;
  /** Whether this is the current line. */
  readonly isHere: boolean;
  toggle(): void;
}) {
  const { calls, isOpen, isMatch, isHere, toggle } = options;
  const isMatching = useIsMatch();
  const { some, more } = useShowMore(calls, DRAWN_FIRST);
  const failed = calls.filter((call) => call.failed).length;
  const isRun = calls.length > RUN_MAX;
  if (isRun && !isOpen && !isMatch) {
    return (
      <button type="button" className="run" aria-expanded={false} onClick={toggle}>
        {plural(calls.length, "tool call")}
        {failed > 0 && <span className="failed-count">, {failed} failed</span>}
        <span className="quiet"> {countTools(calls)}</span>
      </button>
    );
  }
  return (
    <div className="calls">
      {isRun && (
        <button type="button" className="run" aria-expanded={true} onClick={toggle}>
          {plural(calls.length, "tool call")}
          {failed > 0 && <span className="failed-count">, {failed} failed</span>}
        </button>
      )}
      {some.map((call, at) => (
        <CallLine
          // biome-ignore lint/suspicious/noArrayIndexKey: several calls may share an entry and a tool.
          key={at}
          call={call}
          isOpen={(isOpen && !isRun) || (isMatch && isHere && isMatching(resultText(call.result)))}
        />
      ))}
      {more}
    </div>
  );
}

function CallLine({ call, isOpen }: { readonly call: Call; readonly isOpen: boolean }) {
  const [isOpenedHere, setOpenedHere] = useState(false);
  const shown = isOpen !== isOpenedHere;
  const result = useMemo(() => resultText(call.result), [call.result]);
  const folder = useContext(FolderContext);
  const row = useMemo(() => toolRow(call, result, folder), [call, result, folder]);
  const facts = [...row.facts, call.duration_ms === undefined ? "" : formatDuration(call.duration_ms)];
  return (
    <div className="call" data-failed={call.failed || undefined}>
      <button
        type="button"
        className="call-line"
        title={firstLine(call.tool, 80)}
        aria-expanded={shown}
        onClick={() => setOpenedHere(!isOpenedHere)}
      >
        <span className="tool">
          <Highlighted text={row.name} />
        </span>
        <span className="argument" dir="auto">
          <Highlighted text={row.text} />
        </span>
        <span className="facts">
          {call.failed && (
            <>
              <span className="cross" aria-hidden="true">
                ✗{" "}
              </span>
              <span className="only-read">failed </span>
            </>
          )}
          {row.changed !== undefined && <Changed {...row.changed} />}
          {facts.filter((fact) => fact !== "").join(" · ")}
        </span>
      </button>
      {!shown && row.error !== "" && (
        <p className="call-error" dir="auto">
          <Highlighted text={row.error} />
        </p>
      )}
      {shown && <CallDetail call={call} result={result} />}
    </div>
  );
}

function Changed({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <>
      <span className="added">+{formatCount(added)}</span> <span className="removed">−{formatCount(removed)}</span>{" "}
    </>
  );
}

function CallDetail({ call, result }: { readonly call: Call; readonly result: string }) {
  const [isRaw, setRaw] = useState(false);
  const json = useMemo(() => jsonIn(call.result), [call.result]);
  return (
    <div className="call-detail">
      <p className="actions">
        <button type="button" className="plain" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Readable" : "Raw"}
        </button>
        <Link to={to(["entries", call.id])}>#{call.position}</Link>
      </p>
      {isRaw ? (
        <CodeBlock
          text={JSON.stringify({ tool: call.tool, args: call.args, result: call.result }, null, 2)}
          language="json"
        />
      ) : (
        <>
          <Arguments args={call.args} />
          {result !== "" && (
            <CodeBlock text={result} language={call.failed ? "failed" : "result"} json={json} fromEnd />
          )}
          {imagesIn(call.result).map(({ text, image }) => (
            <RecordedImage key={image} text={text} image={image} />
          ))}
        </>
      )}
    </div>
  );
}

/** Short arguments as a list; long texts, such as files and patches, as code. */
function Arguments({ args }: { readonly args: unknown }) {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return <CodeBlock text={toText(args)} language="given" />;
  return <NamedArguments args={args} />;
}

function NamedArguments({ args }: { readonly args: object }) {
  const edit = findEdit(args as Values);
  const all = Object.entries(args).filter(([name]) => edit?.names.includes(name) !== true);
  const isLong = (value: unknown): boolean => typeof value === "string" && /\n/.test(value);
  const short = useShowMore(
    all.filter(([, value]) => !isLong(value)),
    DRAWN_FIRST,
  );
  const long = useShowMore(
    all.filter(([, value]) => isLong(value)),
    DRAWN_FIRST,
  );
  return (
    <>
      {short.some.length > 0 && (
        <dl className="arguments">
          {short.some.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">
                <Highlighted text={toText(value).slice(0, 2_000)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {short.more}
      {long.some.map(([name, value]) => (
        <CodeBlock key={name} text={String(value)} language={name} />
      ))}
      {long.more}
      {edit !== undefined && <CodeBlock text={edit.diff} language="diff" />}
    </>
  );
}

function imagesIn(result: unknown): readonly { readonly text: string; readonly image: string }[] {
  if (!Array.isArray(result)) return [];
  return messageParts({ content: result }).flatMap((piece) =>
    piece.is === "thing" && piece.image !== undefined ? [{ text: piece.text, image: piece.image }] : [],
  );
}

/** JSON indented, everything else as recorded. */
function resultText(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (Array.isArray(result)) return contentText(result);
  const json = jsonIn(result);
  return json === undefined ? toText(result) : toText(json);
}

/** The object or array that a result is, or that its text encodes. */
function jsonIn(result: unknown): object | undefined {
  if (typeof result === "object" && result !== null) return Array.isArray(result) ? undefined : result;
  if (typeof result !== "string" || !/^\s*[[{]/.test(result) || result.length > JSON_CHARS_MAX) return undefined;
  try {
    return JSON.parse(result) as object;
  } catch {
    return undefined;
  }
}

function countTools(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return firstLine([...counts].map(([tool, count]) => (count === 1 ? tool : `${tool} ×${count}`)).join(", "));
}
