// The frame of every view: navigation, search box, server state and theme.
import { type ReactNode, useEffect, useState } from "react";
import { connection, getHealth, type HealthAnswer } from "../api.js";
import { formatAgo, formatCount, plural } from "../format.js";
import { setNewestPosition } from "../growth.js";
import { setPending, usePending } from "../pending.js";
import { Link, to } from "../router.js";
import { useStore } from "../store.js";
import { useVerification, type Verification } from "../verification.js";
import { SearchBox } from "./search-box.js";

const views = [
  { view: "", name: "Home" },
  { view: "sessions", name: "Sessions" },
  { view: "costs", name: "Costs" },
  { view: "insights", name: "Insights" },
  { view: "memory", name: "Memory" },
  { view: "system", name: "System" },
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
          Building the index: {formatCount(health.indexed_through)} of {formatCount(health.position)} entries so far.
          Older entries appear as they are indexed.
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** Views that have no place of their own in the menu. */
const parentOf: { readonly [view: string]: string } = { entries: "sessions", search: "sessions" };

function Menu({ view }: { readonly view: string }) {
  const pending = usePending();
  const [isOpen, setOpen] = useState(false);
  const count = pending > 0 && <span className="pending">{` ${formatCount(pending)}`}</span>;
  return (
    <nav aria-label="Views">
      <button type="button" className="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Views
        {!isOpen && count}
      </button>
      <ul className={isOpen ? "views open" : "views"}>
        {views.map(({ view: its, name }) => (
          <li key={its}>
            <Link
              to={to(its === "" ? [] : [its])}
              aria-current={its === view || its === parentOf[view] ? "page" : undefined}
            >
              {name}
              {its === "memory" && count}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const HEALTH_MS = 5_000;
/** Polled more often while the server is unreachable or builds its index. */
const WAITING_MS = 1_000;

/** Whether the index lags so far that lists lack entries. */
function isBehind({ status, position, indexed_through }: HealthAnswer): boolean {
  return status === "degraded" && indexed_through < position;
}

/** Polls the server's health, which also notices that it went away or came back. */
function useHealth(isAway: boolean): HealthAnswer | undefined {
  const [health, setHealth] = useState<HealthAnswer>();
  const isWaiting = isAway || (health !== undefined && isBehind(health));
  useEffect(() => {
    const stop = new AbortController();
    const look = (): void =>
      void getHealth(stop.signal).then(
        (answer) => {
          setHealth(answer);
          setPending(answer.pending);
          setNewestPosition(answer.position);
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

/** A dot, with its meaning as tooltip and for screen readers. */
function State({ health, isAway }: { readonly health: HealthAnswer | undefined; readonly isAway: boolean }) {
  const verified = useVerification(health);
  const isBroken = verified?.found.ok === false;
  const state = isAway ? "away" : isBroken ? "broken" : (health?.status ?? "unknown");
  const words = isAway ? "Can’t reach the server" : stateWords(health, verified);
  return (
    <Link to={to(["system"])} className="state" data-state={state} title={words}>
      <span className="only-read">{words}</span>
    </Link>
  );
}

function stateWords(health: HealthAnswer | undefined, verified: Verification | undefined): string {
  if (health === undefined) return "Checking the server";
  const facts = [
    health.status === "ok" ? "" : "Degraded",
    verified === undefined ? "Not verified yet" : verifiedWords(verified),
    plural(health.position, "entry", "entries"),
    `version ${health.version}`,
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

function verifiedWords({ found, at_ms }: Verification): string {
  if (!found.ok) return `Verification failed at entry ${formatCount(found.position)}`;
  return `Verified ${formatAgo(Date.now() - at_ms)}`;
}

/** In localStorage: the browser remembers the choice. */
const THEME_KEY = "hansard-theme";
const nextTheme = { system: "light", light: "dark", dark: "system" } as const;
type Theme = keyof typeof nextTheme;

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => (document.documentElement.dataset.theme as Theme) ?? "system");
  const change = (): void => {
    const chosen = nextTheme[theme];
    setTheme(chosen);
    if (chosen === "system") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(THEME_KEY);
    } else {
      document.documentElement.dataset.theme = chosen;
      localStorage.setItem(THEME_KEY, chosen);
    }
  };
  return (
    <button type="button" className="plain theme" onClick={change} title="Theme: light, dark or system">
      {{ system: "Auto", light: "Light", dark: "Dark" }[theme]}
    </button>
  );
}
