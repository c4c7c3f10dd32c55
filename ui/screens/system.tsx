// Whether the record can be trusted: chain, index, health, access keys and audit log.
import { useEffect, useState } from "react";
import { useAccess, usePermission } from "../access.js";
import { ApiError, getDoctor, getHealth, type HealthAnswer, listEntries, type Row, type VerifyAnswer } from "../api.js";
import { formatAgo, formatCount, formatFullTime, formatWhen, plural, toSentence } from "../format.js";
import { EntryLine } from "../parts/entry-line.js";
import { Failed, Loading, WithCode } from "../parts/notice.js";
import { useRequest } from "../requests.js";
import { AUTOMATIC_CHECK_ENTRIES_MAX, verifyChain } from "../verification.js";

const AUDIT_SHOWN = 50;

export function SystemScreen() {
  const isAllowed = usePermission("admin");
  const checked = useRequest(verifyChain, []);
  const health = useRequest((signal) => getHealth(signal), []);
  const audit = useRequest((signal) => listEntries({ kind: "audit", limit: AUDIT_SHOWN }, signal), []);
  const forgotten = useRequest((signal) => listEntries({ kind: "redaction", limit: AUDIT_SHOWN }, signal), []);
  return (
    <article className="column integrity">
      <h1>System</h1>
      {checked.error !== undefined && <Failed error={checked.error} reload={checked.reload} />}
      {checked.value === undefined && checked.error === undefined && <Loading what="Verifying the whole chain" />}
      {checked.value !== undefined && <Verification {...checked.value} reload={checked.reload} busy={checked.busy} />}
      {health.value !== undefined && <StoreState health={health.value} />}
      {isAllowed && health.value !== undefined && <HealthChecks entries={health.value.position} />}
      <DeletedEntries rows={(forgotten.value?.entries ?? []) as readonly Row[]} />
      <AccessKeys />
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

function Verification(options: {
  readonly found: VerifyAnswer;
  readonly at_ms: number;
  readonly busy: boolean;
  reload(): void;
}) {
  const { found, at_ms, busy, reload } = options;
  const ago = formatAgo(useNow() - at_ms);
  return (
    <section className="verdict" data-ok={found.ok}>
      {found.ok ? (
        <p>
          Verified {ago} through <strong>#{formatCount(found.position)}</strong>.{" "}
          {found.entries === 1 ? "The only entry is" : `All ${plural(found.entries, "entry", "entries")} are`} unchanged
          since recorded.
          {found.seal !== undefined &&
            ` The last seal is from ${formatFullTime(found.seal.sealed_at)}, at #${formatCount(found.seal.position)}, and matches.`}
          {found.erased > 0 &&
            ` ${plural(found.erased, "entry was", "entries were")} forgotten; the chain records that.`}
        </p>
      ) : (
        <p role="alert">
          Verification failed at entry <strong>#{formatCount(found.position)}</strong>:{" "}
          {found.reason.replaceAll("_", " ")}.
          {found.known !== undefined &&
            ` The ${found.known.by} expects ${formatCount(found.known.position)} entries. Run hansard doctor first.`}
          {found.holders !== undefined &&
            ` Entries with the damaged part: ${found.holders.map((position) => `#${formatCount(position)}`).join(", ")}.`}
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
              No seal yet: <code>hansard seal</code> prints a signed seal.
            </>
          )}
        </p>
      )}
      <button type="button" onClick={reload} disabled={busy}>
        {busy ? "Checking …" : "Check again"}
      </button>
    </section>
  );
}

function StoreState({ health }: { readonly health: HealthAnswer }) {
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
        {(health.problems ?? []).map(({ message, hint }) => ` ${toSentence(message)} ${hint}`)}
      </p>
      <p className="quiet">Hansard {health.version}</p>
    </section>
  );
}

/** The findings of `hansard doctor`: problems first, with what to do, then what is in order. */
function HealthChecks({ entries }: { readonly entries: number }) {
  const [isAsked, setAsked] = useState(entries <= AUTOMATIC_CHECK_ENTRIES_MAX);
  const { value, error, reload, busy } = useRequest(
    async (signal) => (isAsked ? getDoctor(signal) : undefined),
    [isAsked],
  );
  if (error instanceof ApiError && error.code === "route_not_found") return null;
  const problems = (value?.findings ?? []).filter(({ level }) => level !== "ok");
  const sound = (value?.findings ?? []).filter(({ level }) => level === "ok");
  return (
    <section className="doctor">
      <h2>Checks</h2>
      {error !== undefined && <Failed error={error} reload={reload} />}
      {value === undefined && busy && isAsked && <Loading what="Running checks" />}
      {value !== undefined && problems.length === 0 && <p>No problems found.</p>}
      {problems.map(({ level, check, message, hint }) => (
        <p key={`${check} ${message}`} className="finding" data-level={level}>
          {toSentence(message)}{" "}
          {hint !== undefined && (
            <span className="quiet">
              <WithCode text={hint} />
            </span>
          )}
        </p>
      ))}
      {sound.length > 0 && (
        <p className="quiet">{sound.map(({ check, message }) => toSentence(findingText(check, message))).join(" ")}</p>
      )}
      {(!isAsked || value !== undefined) && (
        <button type="button" disabled={busy && isAsked} onClick={() => (isAsked ? reload() : setAsked(true))}>
          {isAsked ? "Run checks again" : "Run checks"}
        </button>
      )}
    </section>
  );
}

/** Some findings consist of a bare value. */
function findingText(check: string, message: string): string {
  return check === "node" ? `it runs on ${message}` : message;
}

/** Keys are listed for admins only. */
function AccessKeys() {
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
                <td>{formatWhen(created_at)}</td>
                <td>{revoked_at === undefined ? "" : formatWhen(revoked_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function DeletedEntries({ rows }: { readonly rows: readonly Row[] }) {
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

/** The current time, updated often enough for "minutes ago". */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 15_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
