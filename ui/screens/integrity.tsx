// Whether the record can be trusted, in sentences: the chain, the index, who may read it, and what was done to it.
import { useEffect, useState } from "react";
import { useAccess, useMay } from "../access.js";
import { useAnswer } from "../answer.js";
import { askDoctor, getHealth, type HealthAnswer, listEntries, Refused, type Row, type VerifyAnswer } from "../api.js";
import { EntryLine } from "../parts/entry-line.js";
import { Failed, Loading, WithCode } from "../parts/notice.js";
import { UNASKED_ENTRIES_MAX, walkChain } from "../verified.js";
import { agoOf, countOf, plural, sentence, whenOf, wholeTimeOf } from "../words.js";

const AUDIT_SHOWN = 50;

export function IntegrityScreen() {
  const may = useMay("admin");
  const checked = useAnswer(walkChain, []);
  const health = useAnswer((signal) => getHealth(signal), []);
  const audit = useAnswer((signal) => listEntries({ kind: "audit", limit: AUDIT_SHOWN }, signal), []);
  const forgotten = useAnswer((signal) => listEntries({ kind: "redaction", limit: AUDIT_SHOWN }, signal), []);
  return (
    <article className="column integrity">
      <h1>Integrity</h1>
      {checked.error !== undefined && <Failed error={checked.error} again={checked.again} />}
      {checked.value === undefined && checked.error === undefined && <Loading what="Verifying the whole chain" />}
      {checked.value !== undefined && <Chain {...checked.value} again={checked.again} busy={checked.busy} />}
      {health.value !== undefined && <State health={health.value} />}
      {may && health.value !== undefined && <Doctor entries={health.value.position} />}
      <Forgotten rows={(forgotten.value?.entries ?? []) as readonly Row[]} />
      <KeyList />
      <h2>Audit log</h2>
      {audit.value?.entries.length === 0 ? (
        <p className="quiet">No keys created or revoked; nothing exported, forgotten or judged.</p>
      ) : (
        <ol className="groups">
          {(audit.value?.entries ?? []).map((entry) => (
            <li key={entry.position}>
              <EntryLine entry={entry} />
            </li>
          ))}
        </ol>
      )}
    </article>
  );
}

function Chain(options: {
  readonly found: VerifyAnswer;
  readonly at_ms: number;
  readonly busy: boolean;
  again(): void;
}) {
  const { found, at_ms, busy, again } = options;
  const ago = agoOf(useNow() - at_ms);
  return (
    <section className="verdict" data-ok={found.ok}>
      {found.ok ? (
        <p>
          Verified {ago} through <strong>#{countOf(found.position)}</strong>.{" "}
          {found.entries === 1 ? "The only entry is" : `All ${plural(found.entries, "entry", "entries")} are`} unchanged
          since recorded.
          {found.seal !== undefined &&
            ` The last seal is from ${wholeTimeOf(found.seal.sealed_at)}, at #${countOf(found.seal.position)}, and agrees.`}
          {found.erased > 0 &&
            ` ${plural(found.erased, "entry was", "entries were")} forgotten; the chain records that.`}
        </p>
      ) : (
        <p role="alert">
          Verification failed at entry <strong>#{countOf(found.position)}</strong>: {found.reason.replaceAll("_", " ")}.
          {found.known !== undefined &&
            ` The ${found.known.by} remembers a log of ${countOf(found.known.position)} entries. Run hansard doctor first.`}
          {found.holders !== undefined &&
            ` Entries with the damaged part: ${found.holders.map((position) => `#${countOf(position)}`).join(", ")}.`}
        </p>
      )}
      {(found.warnings ?? []).length > 0 && (
        <p>
          A trigger that protects the tables is missing. The next program that opens the store for writing restores it.
        </p>
      )}
      {found.ok && (
        <p className="quiet">
          Last hash: <code>{found.hash}</code>. Keep a copy elsewhere to prove later that nothing before it was changed.
          {found.seal === undefined && (
            <>
              {" "}
              No seal yet: <code>hansard seal</code> prints a signed one.
            </>
          )}
        </p>
      )}
      <button type="button" onClick={again} disabled={busy}>
        {busy ? "Checking …" : "Check again"}
      </button>
    </section>
  );
}

function State({ health }: { readonly health: HealthAnswer }) {
  const behind = health.position - health.indexed_through;
  return (
    <section>
      <h2>The store</h2>
      <p>
        {health.trouble === undefined
          ? `Recording, ${plural(health.position, "entry", "entries")} so far. `
          : `Recording is not possible: ${health.trouble.replaceAll("_", " ")}. `}
        {behind <= 0
          ? "The index is up to date."
          : `The index is ${plural(behind, "entry", "entries")} behind; lists may lack the newest entries for a moment.`}
        {health.warnings?.includes("cut_off") === true &&
          " The log was truncated or replaced: hansard doctor explains what is missing."}
        {(health.problems ?? []).map(({ message, hint }) => ` ${sentence(message)} ${hint}`)}
      </p>
      <p className="quiet">Hansard {health.version}</p>
    </section>
  );
}

/** What `hansard doctor` finds, in its own words: troubles first, with what to do, then what is as it should be. */
function Doctor({ entries }: { readonly entries: number }) {
  const [isAsked, setAsked] = useState(entries <= UNASKED_ENTRIES_MAX);
  const { value, error, again, busy } = useAnswer(
    async (signal) => (isAsked ? askDoctor(signal) : undefined),
    [isAsked],
  );
  if (error instanceof Refused && error.code === "route_not_found") return null;
  const troubles = (value?.findings ?? []).filter(({ level }) => level !== "ok");
  const sound = (value?.findings ?? []).filter(({ level }) => level === "ok");
  return (
    <section className="doctor">
      <h2>Health</h2>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && busy && isAsked && <Loading what="Running checks" />}
      {value !== undefined && troubles.length === 0 && <p>No problems found.</p>}
      {troubles.map(({ level, check, message, hint }) => (
        <p key={`${check} ${message}`} className="finding" data-level={level}>
          {sentence(message)}{" "}
          {hint !== undefined && (
            <span className="quiet">
              <WithCode text={hint} />
            </span>
          )}
        </p>
      ))}
      {sound.length > 0 && (
        <p className="quiet">{sound.map(({ check, message }) => sentence(wordsOf(check, message))).join(" ")}</p>
      )}
      {(!isAsked || value !== undefined) && (
        <button type="button" disabled={busy && isAsked} onClick={() => (isAsked ? again() : setAsked(true))}>
          {isAsked ? "Run checks again" : "Run checks"}
        </button>
      )}
    </section>
  );
}

/** Some findings name only what they found. */
function wordsOf(check: string, message: string): string {
  return check === "node" ? `it runs on ${message}` : message;
}

/** Keys are listed for admins only. */
function KeyList() {
  const access = useAccess();
  if (access === undefined) return null;
  const keys = access.keys ?? [];
  const good = keys.filter(({ revoked_at }) => revoked_at === undefined);
  return (
    <section>
      <h2>Access keys</h2>
      <p>
        {access.actor === "person"
          ? "No keys exist: anyone who can reach this server has full access."
          : `Signed in with a key of scope ${access.scope}.`}
        {good.length > 0 && ` ${plural(good.length, "key is", "keys are")} valid.`}
      </p>
      {keys.length > 0 && (
        <table className="set">
          <thead>
            <tr>
              {["Key", "Scope", "Name", "Created", "Revoked"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {keys.map(({ id, scope, name, created_at, revoked_at }) => (
              <tr key={id}>
                <td>
                  <code>{id}</code>
                </td>
                <td>{scope}</td>
                <td dir="auto">{name}</td>
                <td>{whenOf(created_at)}</td>
                <td>{revoked_at === undefined ? "" : whenOf(revoked_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Forgotten({ rows }: { readonly rows: readonly Row[] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Deleted entries</h2>
      <ol className="groups">
        {rows.map((entry) => (
          <li key={entry.position}>
            <EntryLine entry={entry} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The time, as often as its words change. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 15_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
