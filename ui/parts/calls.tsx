// Calls of tools: one line each; opened, what they were given and what came of it. Long runs fold into one line.
import { useMemo, useState } from "react";
import { contentText, messageParts } from "../../src/model/content-parts.js";
import { Marked, useSought } from "../marks.js";
import { Link, to } from "../router.js";
import { editIn } from "../transcript/edits.js";
import type { Call } from "../transcript/lines.js";
import { argumentGist, durationOf, firstLine, plural, sizeOf, textOf } from "../words.js";
import { Code } from "./code.js";
import { Picture } from "./picture.js";
import { useSome } from "./some.js";

/** More of them than so many are one line until they are opened. */
const RUN_MAX = 5;
/** More of one run are drawn only where somebody asks. */
const DRAWN_FIRST = 100;
/** A longer text is not taken apart to see whether it is JSON. */
const JSON_CHARS_MAX = 200_000;

export function Calls(options: {
  readonly calls: readonly Call[];
  readonly isOpen: boolean;
  /** Whether what is searched for is somewhere in them. */
  readonly isMatch: boolean;
  /** Whether the reader is there. */
  readonly isHere: boolean;
  toggle(): void;
}) {
  const { calls, isOpen, isMatch, isHere, toggle } = options;
  const isSought = useSought();
  const { some, more } = useSome(calls, DRAWN_FIRST);
  const failed = calls.filter((call) => call.failed).length;
  const isRun = calls.length > RUN_MAX;
  if (isRun && !isOpen && !isMatch) {
    return (
      <button type="button" className="run" aria-expanded={false} onClick={toggle}>
        {plural(calls.length, "tool call")}
        {failed > 0 && <span className="failed-count">, {failed} failed</span>}
        <span className="quiet"> {toolsOf(calls)}</span>
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
          // biome-ignore lint/suspicious/noArrayIndexKey: calls come in an order, and several may share entry and tool.
          key={at}
          call={call}
          isOpen={(isOpen && !isRun) || (isMatch && isHere && isSought(resultText(call.result)))}
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
    call.duration_ms === undefined ? "" : durationOf(call.duration_ms),
    call.result === undefined ? "no result recorded" : sizeOf(result.length),
  ].filter((fact) => fact !== "");
  return (
    <div className="call" data-failed={call.failed || undefined}>
      <button type="button" className="call-line" aria-expanded={shown} onClick={() => setOpenedHere(!isOpenedHere)}>
        <span className="tool">
          {call.failed && <span className="cross">✗ </span>}
          <Marked text={call.tool} />
        </span>
        <span className="argument" dir="auto">
          <Marked text={argumentGist(call.args)} />
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
      <p className="deeds">
        <button type="button" className="plain" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Readable" : "Raw"}
        </button>
        <Link to={to(["entries", call.id])}>#{call.position}</Link>
      </p>
      {isRaw ? (
        <Code
          text={JSON.stringify({ tool: call.tool, args: call.args, result: call.result }, null, 2)}
          language="json"
        />
      ) : (
        <>
          <Arguments args={call.args} />
          {result !== "" && <Code text={result} language={call.failed ? "failed" : "result"} json={json} fromEnd />}
          {picturesIn(call.result).map(({ text, image }) => (
            <Picture key={image} text={text} image={image} />
          ))}
        </>
      )}
    </div>
  );
}

/** Long texts among the arguments, a file or a patch for instance, are set as they are. */
function Arguments({ args }: { readonly args: unknown }) {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return <Code text={textOf(args)} language="given" />;
  return <NamedArguments args={args} />;
}

function NamedArguments({ args }: { readonly args: object }) {
  const edit = editIn(args as { readonly [name: string]: unknown });
  const all = Object.entries(args).filter(([name]) => edit?.names.includes(name) !== true);
  const isLong = (value: unknown): boolean => typeof value === "string" && /\n/.test(value);
  const short = useSome(
    all.filter(([, value]) => !isLong(value)),
    DRAWN_FIRST,
  );
  const long = useSome(
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
                <Marked text={textOf(value).slice(0, 2_000)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {short.more}
      {long.some.map(([name, value]) => (
        <Code key={name} text={String(value)} language={name} />
      ))}
      {long.more}
      {edit !== undefined && <Code text={edit.diff} language="diff" />}
    </>
  );
}

function picturesIn(result: unknown): readonly { readonly text: string; readonly image: string }[] {
  if (!Array.isArray(result)) return [];
  return messageParts({ content: result }).flatMap((piece) =>
    piece.is === "thing" && piece.image !== undefined ? [{ text: piece.text, image: piece.image }] : [],
  );
}

/** JSON laid out, everything else as it came. */
function resultText(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (Array.isArray(result)) return contentText(result);
  const json = jsonIn(result);
  return json === undefined ? textOf(result) : textOf(json);
}

/** What the result is, where it is an object or a list, or the text of one. */
function jsonIn(result: unknown): object | undefined {
  if (typeof result === "object" && result !== null) return Array.isArray(result) ? undefined : result;
  if (typeof result !== "string" || !/^\s*[[{]/.test(result) || result.length > JSON_CHARS_MAX) return undefined;
  try {
    return JSON.parse(result) as object;
  } catch {
    return undefined;
  }
}

function toolsOf(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return firstLine([...counts].map(([tool, count]) => (count === 1 ? tool : `${tool} ×${count}`)).join(", "));
}
