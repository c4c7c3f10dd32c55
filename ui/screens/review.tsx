// Review queue of candidates: one at a time, large, with its evidence in place; a verdict is one key, and can be taken back.
import { useCallback, useEffect, useRef, useState } from "react";
import { rejectionReasons } from "../../src/model/memory.js";
import { useAccess, useMay } from "../access.js";
import { useAnswer } from "../answer.js";
import { judge, judgeMany, listMemories, type Memory, type MemoryPage, Refused, type Verdict } from "../api.js";
import { useKeys } from "../keys.js";
import { Acceptance, sourceWords } from "../parts/acceptance.js";
import { Evidence, Neighbours } from "../parts/evidence.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { holdVerdict, verdictSent } from "../pending.js";
import { Link, to } from "../router.js";
import { firstLine, plural, whenOf } from "../words.js";

/** A verdict cannot be taken back once it is recorded, so that it waits for so long. */
const UNDO_MS = 10_000;
const QUEUE = 200;

export function ReviewScreen() {
  const may = useMay("review");
  const isKnown = useAccess() !== undefined;
  const answer = useAnswer((signal) => listMemories({ status: "candidate", limit: QUEUE }, signal), []);
  const verdicts = useVerdicts(answer.value);
  const { current, waiting, given, trouble } = verdicts;
  const [isRejecting, setRejecting] = useState(false);
  const [wording, setWording] = useState<string>();
  const id = current?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another candidate is another question.
  useEffect(() => {
    setRejecting(false);
    setWording(undefined);
  }, [id]);
  const accept = (): void => {
    if (current === undefined) return;
    const edited = wording?.trim() ?? "";
    const content = edited === "" || edited === current.content ? {} : { content: edited };
    verdicts.give({ id: current.id, is: "promote", ...content });
  };
  const reject = (reason: string): void => {
    if (current !== undefined) verdicts.give({ id: current.id, is: "reject", reason });
  };
  const digits = Object.fromEntries(
    rejectionReasons.map((reason, at) => [String(at + 1), () => isRejecting && reject(reason)] as const),
  );
  useKeys({
    a: () => may && accept(),
    r: () => may && setRejecting(true),
    e: () => may && setWording(current?.content ?? ""),
    s: verdicts.skip,
    j: verdicts.skip,
    u: verdicts.undo,
    Escape: () => setRejecting(false),
    ...digits,
  });
  if (answer.error !== undefined) return <Failed error={answer.error} again={answer.again} />;
  if (answer.value === undefined) return <Loading what="Reading the queue" />;
  return (
    <div className="review column wide">
      {current !== undefined && <h1 className="only-read">Review</h1>}
      <p className="verdict-given" role="status">
        {given !== undefined && (
          <>
            {given.is === "promote" ? "Accepted" : "Rejected"} “{firstLine(given.content)}”.{" "}
            <button type="button" className="plain" onClick={verdicts.undo}>
              Undo <Key is="u" />
            </button>
          </>
        )}
        {trouble}
      </p>
      {current === undefined ? (
        <>
          <EmptyQueue />
          <Acceptance acceptance={answer.value.acceptance} />
        </>
      ) : (
        <div className="review-sheet">
          <article className="candidate" aria-label="Candidate">
            <p className="aside">
              {current.type} · proposed by {sourceWords[current.source]} ·{" "}
              {current.project === "" ? "everywhere" : current.project} · {whenOf(current.created_at)}
            </p>
            {wording === undefined ? (
              <p className="statement" dir="auto">
                {current.content}
              </p>
            ) : (
              <textarea
                className="statement"
                aria-label="Another wording"
                rows={3}
                value={wording}
                // biome-ignore lint/a11y/noAutofocus: who asked to edit wants to type.
                autoFocus
                onChange={({ target }) => setWording(target.value)}
                onKeyDown={(event) => {
                  if (event.key === "Escape") setWording(undefined);
                  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) accept();
                }}
              />
            )}
            <Neighbours memory={current} />
            {may ? (
              <p className="verdicts">
                <button type="button" className="yes" onClick={accept}>
                  Accept <Key is="a" />
                </button>
                <button type="button" aria-expanded={isRejecting} onClick={() => setRejecting(!isRejecting)}>
                  Reject <Key is="r" />
                </button>
                <button type="button" onClick={() => setWording(wording === undefined ? current.content : undefined)}>
                  Edit <Key is="e" />
                </button>
                <button type="button" className="plain" onClick={verdicts.skip}>
                  Skip <Key is="s" />
                </button>
              </p>
            ) : (
              isKnown && <p className="quiet">This key can read but not review.</p>
            )}
            {isRejecting && (
              <fieldset className="reasons" aria-label="Why">
                {rejectionReasons.map((reason, at) => (
                  <button key={reason} type="button" onClick={() => reject(reason)}>
                    <kbd>{at + 1}</kbd> {reason.replaceAll("_", " ")}
                  </button>
                ))}
              </fieldset>
            )}
            <h2>Evidence</h2>
            <Evidence memory={current} />
          </article>
          <aside className="queue" aria-label="Review queue">
            <Queue waiting={waiting} current={current} may={may} show={verdicts.show} again={answer.again} />
            <Acceptance acceptance={answer.value.acceptance} />
          </aside>
        </div>
      )}
    </div>
  );
}

function EmptyQueue() {
  return (
    <Empty title="You’re all caught up.">
      <p>
        New suggestions appear here when agents or rules find something worth remembering, and when you select a
        sentence in a session and press <kbd>m</kbd>.
      </p>
      <p>
        <Link to={to(["memories"])}>All memories</Link>
      </p>
    </Empty>
  );
}

/** The rest of the queue, of which several can be judged at once. */
function Queue(options: {
  readonly waiting: readonly Memory[];
  readonly current: Memory;
  readonly may: boolean;
  show(id: string): void;
  again(): void;
}) {
  const { waiting, current, may, show, again } = options;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState("");
  const toggle = (id: string): void => {
    const after = new Set(chosen);
    if (!after.delete(id)) after.add(id);
    setChosen(after);
  };
  // One that was chosen may have been judged alone meanwhile.
  const ids = waiting.flatMap(({ id }) => (chosen.has(id) ? [id] : []));
  const judgeChosen = (is: "promote" | "reject"): void => {
    setFailure("");
    judgeMany({ promote: is === "promote" ? ids : [], reject: is === "reject" ? ids : [] }).then(
      () => {
        setChosen(new Set());
        again();
      },
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      <h2>{plural(waiting.length, "candidate")}</h2>
      {ids.length > 0 && (
        <p className="verdicts">
          <button type="button" onClick={() => judgeChosen("promote")}>
            Accept {ids.length}
          </button>
          <button type="button" onClick={() => judgeChosen("reject")}>
            Reject {ids.length}
          </button>
        </p>
      )}
      {failure !== "" && <p role="alert">{failure}</p>}
      <ol>
        {waiting.map(({ id, content, type }) => (
          <li key={id} aria-current={id === current.id || undefined}>
            {may && (
              <input
                type="checkbox"
                aria-label={`Choose ${content}`}
                checked={chosen.has(id)}
                onChange={() => toggle(id)}
              />
            )}
            <button type="button" className="plain" dir="auto" onClick={() => show(id)}>
              {content} <span className="quiet">{type}</span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The key that does the same; its letter is no part of the button's name. */
function Key({ is }: { readonly is: string }) {
  return (
    <span className="key" aria-hidden="true">
      {is}
    </span>
  );
}

type ShownVerdict = Verdict & { readonly content: string };

/** The current candidate, the rest of the queue, and the last verdict while it can be undone. */
function useVerdicts(queue: MemoryPage | undefined) {
  const [waiting, setWaiting] = useState<readonly Memory[]>([]);
  const [currentId, setCurrentId] = useState<string>();
  const [given, setGiven] = useState<{ readonly verdict: Verdict; readonly memory: Memory }>();
  const [trouble, setTrouble] = useState("");
  const held = useRef<{ readonly verdict: Verdict; readonly memory: Memory }>(undefined);
  useEffect(() => {
    if (queue === undefined) return;
    setWaiting(queue.memories.filter(({ id }) => id !== held.current?.memory.id));
  }, [queue]);

  /** Records the verdict that was held back. Where that fails the candidate waits again, unless somebody else judged it. */
  const settle = useCallback((): void => {
    if (held.current === undefined) return;
    const { verdict, memory } = held.current;
    held.current = undefined;
    setGiven(undefined);
    judge(verdict)
      .catch((error: Error) => {
        const isLate = error instanceof Refused && error.status === 409;
        setTrouble(isLate ? "Somebody else has already reviewed it." : `Not recorded: ${error.message}`);
        if (!isLate) setWaiting((before) => [memory, ...before]);
      })
      .finally(() => void verdictSent());
  }, []);
  useEffect(() => {
    if (given === undefined) return;
    const timer = setTimeout(settle, UNDO_MS);
    return () => clearTimeout(timer);
  }, [given, settle]);
  useEffect(() => {
    addEventListener("pagehide", settle);
    return () => {
      removeEventListener("pagehide", settle);
      settle();
    };
  }, [settle]);

  const current = waiting.find(({ id }) => id === currentId) ?? waiting[0];
  const give = (verdict: Verdict): void => {
    settle();
    setTrouble("");
    const memory = waiting.find(({ id }) => id === verdict.id);
    if (memory === undefined) return;
    held.current = { verdict, memory };
    holdVerdict(1);
    setGiven(held.current);
    setCurrentId(nextOf(waiting, verdict.id));
    setWaiting(waiting.filter(({ id }) => id !== verdict.id));
  };
  const undo = (): void => {
    if (given === undefined) return;
    held.current = undefined;
    holdVerdict(-1);
    setWaiting([given.memory, ...waiting]);
    setCurrentId(given.memory.id);
    setGiven(undefined);
  };
  const skip = (): void => setCurrentId(current === undefined ? undefined : nextOf(waiting, current.id));
  const shown: ShownVerdict | undefined =
    given === undefined ? undefined : { ...given.verdict, content: given.verdict.content ?? given.memory.content };
  return { current, waiting, given: shown, trouble, give, undo, skip, show: setCurrentId };
}

function nextOf(waiting: readonly Memory[], id: string): string | undefined {
  const at = waiting.findIndex((each) => each.id === id);
  return (waiting[at + 1] ?? waiting.find((each) => each.id !== id))?.id;
}
