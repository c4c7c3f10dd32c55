// The review queue: one candidate at a time with its evidence. A verdict takes one key and can be undone.
import { useCallback, useEffect, useRef, useState } from "react";
import { rejectionReasons } from "../../src/model/memory.js";
import { useAccess, usePermission } from "../access.js";
import { ApiError, judge, judgeMany, listMemories, type Memory, type MemoryPage, type Verdict } from "../api.js";
import { firstLine, formatWhen, plural } from "../format.js";
import { useKeys } from "../keyboard.js";
import { Acceptance, sourceWords } from "../parts/acceptance.js";
import { Evidence, RelatedMemories } from "../parts/evidence.js";
import { Empty, Failed, Loading } from "../parts/notice.js";
import { holdVerdict, verdictSent } from "../pending.js";
import { useRequest } from "../requests.js";
import { Link, to } from "../router.js";

/** A recorded verdict cannot be undone, so it is held back for this long. */
const UNDO_MS = 10_000;
const QUEUE_MAX = 200;

export function ReviewScreen() {
  const isAllowed = usePermission("review");
  const isKnown = useAccess() !== undefined;
  const answer = useRequest((signal) => listMemories({ status: "candidate", limit: QUEUE_MAX }, signal), []);
  const verdicts = useVerdicts(answer.value);
  const { current, waiting, given, problem } = verdicts;
  const [isRejecting, setRejecting] = useState(false);
  const [wording, setWording] = useState<string>();
  const id = current?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each candidate.
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
    a: () => isAllowed && accept(),
    r: () => isAllowed && setRejecting(true),
    e: () => isAllowed && setWording(current?.content ?? ""),
    s: verdicts.skip,
    j: verdicts.skip,
    u: verdicts.undo,
    Escape: () => setRejecting(false),
    ...digits,
  });
  if (answer.error !== undefined) return <Failed error={answer.error} reload={answer.reload} />;
  if (answer.value === undefined) return <Loading what="Reading the queue" />;
  return (
    <div className="review column wide">
      {current !== undefined && <h1 className="only-read">Review queue</h1>}
      <p className="verdict-given" role="status">
        {given !== undefined && (
          <>
            {given.is === "promote" ? "Accepted" : "Rejected"} “{firstLine(given.content)}”.{" "}
            <button type="button" className="plain" onClick={verdicts.undo}>
              Undo <Key is="u" />
            </button>
          </>
        )}
        {problem}
      </p>
      {answer.value.held_back > 0 && (
        <p className="held-back">
          {answer.value.held_back} proposals of the last 7 days were held back, because their key had too many.
        </p>
      )}
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
              {current.project === "" ? "everywhere" : current.project} · {formatWhen(current.created_at)}
            </p>
            {wording === undefined ? (
              <p className="statement" dir="auto">
                {current.content}
              </p>
            ) : (
              <textarea
                className="statement"
                aria-label="New wording"
                rows={3}
                value={wording}
                // biome-ignore lint/a11y/noAutofocus: the reader has just asked to edit.
                autoFocus
                onChange={({ target }) => setWording(target.value)}
                onKeyDown={(event) => {
                  if (event.key === "Escape") setWording(undefined);
                  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) accept();
                }}
              />
            )}
            <RelatedMemories memory={current} />
            {isAllowed ? (
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
            <Queue
              waiting={waiting}
              current={current}
              isAllowed={isAllowed}
              show={verdicts.show}
              reload={answer.reload}
            />
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
        <Link to={to(["memory"], { tab: "active" })}>All memories</Link>
      </p>
    </Empty>
  );
}

/** The rest of the queue; several candidates can be judged at once. */
function Queue(options: {
  readonly waiting: readonly Memory[];
  readonly current: Memory;
  readonly isAllowed: boolean;
  show(id: string): void;
  reload(): void;
}) {
  const { waiting, current, isAllowed, show, reload } = options;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState("");
  const toggle = (id: string): void => {
    const after = new Set(chosen);
    if (!after.delete(id)) after.add(id);
    setChosen(after);
  };
  // A chosen candidate may have been judged since.
  const ids = waiting.flatMap(({ id }) => (chosen.has(id) ? [id] : []));
  const judgeChosen = (is: "promote" | "reject"): void => {
    setFailure("");
    judgeMany({ promote: is === "promote" ? ids : [], reject: is === "reject" ? ids : [] }).then(
      () => {
        setChosen(new Set());
        reload();
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
            {isAllowed && (
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

/** The shortcut of a button, not part of its accessible name. */
function Key({ is }: { readonly is: string }) {
  return (
    <span className="key" aria-hidden="true">
      {is}
    </span>
  );
}

type LastVerdict = Verdict & { readonly content: string };

/** The current candidate, the rest of the queue, and the last verdict while it can be undone. */
function useVerdicts(queue: MemoryPage | undefined) {
  const [waiting, setWaiting] = useState<readonly Memory[]>([]);
  const [currentId, setCurrentId] = useState<string>();
  const [given, setGiven] = useState<{ readonly verdict: Verdict; readonly memory: Memory }>();
  const [problem, setProblem] = useState("");
  const held = useRef<{ readonly verdict: Verdict; readonly memory: Memory }>(undefined);
  useEffect(() => {
    if (queue === undefined) return;
    setWaiting(queue.memories.filter(({ id }) => id !== held.current?.memory.id));
  }, [queue]);

  /** Records the held verdict. If that fails, the candidate returns to the queue, unless someone else has judged it. */
  const settle = useCallback((): void => {
    if (held.current === undefined) return;
    const { verdict, memory } = held.current;
    held.current = undefined;
    setGiven(undefined);
    judge(verdict)
      .catch((error: Error) => {
        const isConflict = error instanceof ApiError && error.status === 409;
        setProblem(isConflict ? "Someone else has already reviewed it." : `Not recorded: ${error.message}`);
        if (!isConflict) setWaiting((before) => [memory, ...before]);
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
    setProblem("");
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
  const shown: LastVerdict | undefined =
    given === undefined ? undefined : { ...given.verdict, content: given.verdict.content ?? given.memory.content };
  return { current, waiting, given: shown, problem, give, undo, skip, show: setCurrentId };
}

function nextOf(waiting: readonly Memory[], id: string): string | undefined {
  const at = waiting.findIndex((each) => each.id === id);
  return (waiting[at + 1] ?? waiting.find((each) => each.id !== id))?.id;
}
