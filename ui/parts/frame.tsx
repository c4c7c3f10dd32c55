// The frame of every view: one line with the name, the views, the search box and the state of the record.
import { type ReactNode, useEffect, useState } from "react";
import { connection, getHealth, type HealthAnswer } from "../api.js";
import { heardPending, usePending } from "../pending.js";
import { Link, to } from "../router.js";
import { useStore } from "../store.js";
import { useVerified, type Verified } from "../verified.js";
import { agoOf, countOf, plural } from "../words.js";
import { SearchBox } from "./search-box.js";
import { ThemeSwitch } from "./theme-switch.js";

const views = [
  { view: "", name: "Record" },
  { view: "sessions", name: "Sessions" },
  { view: "reflection", name: "Reflection" },
  { view: "review", name: "Review" },
  { view: "memories", name: "Memories" },
  { view: "integrity", name: "Integrity" },
] as const;

export function Frame({ view, children }: { readonly view: string; readonly children: ReactNode }) {
  const isAway = useStore(connection) === "away";
  const health = useHealth(isAway);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="frame">
        <Link to={to([])} className="name">
          Hansard
        </Link>
        <Menu view={view} />
        <SearchBox />
        <State health={health} isAway={isAway} />
        <ThemeSwitch />
      </header>
      {isAway && (
        <p className="away" role="alert">
          Can’t reach the server. Retrying… What you see may be out of date.
        </p>
      )}
      {health !== undefined && isBehind(health) && (
        <p className="behind" role="status">
          The index is being built, {countOf(health.indexed_through)} of {countOf(health.position)} entries so far.
          Older ones come in by themselves.
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function Menu({ view }: { readonly view: string }) {
  const pending = usePending();
  const [isOpen, setOpen] = useState(false);
  const count = pending > 0 && <span className="pending">{` ${countOf(pending)}`}</span>;
  return (
    <nav aria-label="Views">
      <button type="button" className="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Views
        {!isOpen && count}
      </button>
      <ul className={isOpen ? "views open" : "views"}>
        {views.map(({ view: its, name }) => (
          <li key={its}>
            <Link to={to(its === "" ? [] : [its])} aria-current={its === view ? "page" : undefined}>
              {name}
              {its === "review" && count}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const HEALTH_MS = 5_000;
/** How often it is asked where something is being waited for. */
const WAITING_MS = 1_000;

/** Whether lists lack entries for longer than a moment. */
function isBehind({ status, position, indexed_through }: HealthAnswer): boolean {
  return status === "degraded" && indexed_through < position;
}

/** It also notices that the server went away, or came back. */
function useHealth(isAway: boolean): HealthAnswer | undefined {
  const [health, setHealth] = useState<HealthAnswer>();
  const isWaiting = isAway || (health !== undefined && isBehind(health));
  useEffect(() => {
    const stop = new AbortController();
    const look = (): void =>
      void getHealth(stop.signal).then(
        (heard) => {
          setHealth(heard);
          heardPending(heard.pending);
        },
        () => undefined,
      );
    look();
    const timer = setInterval(look, isWaiting ? WAITING_MS : HEALTH_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [isWaiting]);
  return health;
}

/** A dot, with words for those who ask. */
function State({ health, isAway }: { readonly health: HealthAnswer | undefined; readonly isAway: boolean }) {
  const verified = useVerified(health);
  const isBroken = verified?.found.ok === false;
  const state = isAway ? "away" : isBroken ? "broken" : (health?.status ?? "unknown");
  const words = isAway ? "The server does not answer" : stateWords(health, verified);
  return (
    <Link to={to(["integrity"])} className="state" data-state={state} title={words}>
      <span className="only-read">{words}</span>
    </Link>
  );
}

function stateWords(health: HealthAnswer | undefined, verified: Verified | undefined): string {
  if (health === undefined) return "Asking the server";
  const facts = [
    health.status === "ok" ? "" : "Degraded",
    verified === undefined ? "Not verified yet" : verifiedWords(verified),
    plural(health.position, "entry", "entries"),
    `version ${health.version}`,
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

function verifiedWords({ found, at_ms }: Verified): string {
  if (!found.ok) return `The chain does not hold at #${countOf(found.position)}`;
  return `Verified ${agoOf(Date.now() - at_ms)}`;
}
