// Tool calls, one line each; arguments and result open below. Long runs fold into one line.
import { useMemo, useState } from "react";
import { contentText, messageParts } from "../../src/model/content-parts.js";
import { argumentSummary, firstLine, formatDuration, formatSize, plural, toText } from "../format.js";
import { Highlighted, useIsMatch } from "../highlight.js";
import { Link, to } from "../router.js";
import type { Call } from "../transcript/lines.js";
import { CodeBlock, RecordedImage } from "./code-block.js";
import { useShowMore } from "./show-more.js";

/** Longer runs are folded. */
const RUN_MAX = 5;
/** How many calls of a run are shown at first. */
const DRAWN_FIRST = 100;
/** Longer results are not parsed as JSON. */
const JSON_CHARS_MAX = 200_000;

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
  const facts = [
    call.duration_ms === undefined ? "" : formatDuration(call.duration_ms),
    call.result === undefined ? "no result recorded" : formatSize(result.length),
  ].filter((fact) => fact !== "");
  return (
    <div className="call" data-failed={call.failed || undefined}>
      <button type="button" className="call-line" aria-expanded={shown} onClick={() => setOpenedHere(!isOpenedHere)}>
        <span className="tool">
          {call.failed && <span className="cross">✗ </span>}
          <Highlighted text={call.tool} />
        </span>
        <span className="argument" dir="auto">
          <Highlighted text={argumentSummary(call.args)} />
        </span>
        <span className="facts">
          {call.failed && <span className="only-read">failed </span>}
          {facts.join(" · ")}
        </span>
      </button>
      {shown && <CallDetail call={call} result={result} />}
    </div>
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
  const edit = findEdit(args as { readonly [name: string]: unknown });
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

/** Names under which agents pass a text and its replacement. */
const editArguments = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldText", "newText"],
  ["oldString", "newString"],
] as const;

type Values = { readonly [name: string]: unknown };

/** An edit in the arguments as a diff, with the names of the arguments it uses; undefined if there is none. */
function findEdit(args: Values): { readonly names: readonly string[]; readonly diff: string } | undefined {
  const own = diffOf(args);
  if (own !== undefined) return own;
  const { edits } = args;
  if (!Array.isArray(edits) || edits.length === 0) return undefined;
  const several = edits.map((edit: unknown) =>
    typeof edit === "object" && edit !== null ? diffOf(edit as Values)?.diff : undefined,
  );
  return several.includes(undefined) ? undefined : { names: ["edits"], diff: several.join("\n@@\n") };
}

function diffOf(values: Values): ReturnType<typeof findEdit> {
  for (const [before, after] of editArguments) {
    const [old, young] = [values[before], values[after]];
    if (typeof old === "string" && typeof young === "string") {
      return { names: [before, after], diff: diffLines(old, young).join("\n") };
    }
  }
  return undefined;
}

/** Unchanged lines shown before and after a change. */
const DIFF_CONTEXT_LINES = 3;

/** Finds the common beginning and end; everything in between counts as changed. */
function diffLines(before: string, after: string): readonly string[] {
  const [old, young] = [split(before), split(after)];
  const shorter = Math.min(old.length, young.length);
  let head = 0;
  while (head < shorter && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const signed = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  const [lead, rest] = [Math.min(head, DIFF_CONTEXT_LINES), Math.min(tail, DIFF_CONTEXT_LINES)];
  return [
    ...skippedLines(head - lead),
    ...signed(" ", old.slice(head - lead, head)),
    ...signed("-", old.slice(head, old.length - tail)),
    ...signed("+", young.slice(head, young.length - tail)),
    ...signed(" ", old.slice(old.length - tail, old.length - tail + rest)),
    ...skippedLines(tail - rest),
  ];
}

function skippedLines(count: number): readonly string[] {
  return count === 0 ? [] : [`@@ ${plural(count, "line")} unchanged @@`];
}

function split(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
